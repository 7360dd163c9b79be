package predictors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"pgregory.net/rapid"

	"bourse/hosts/availability"
)

// TestGoldenTDE checks the tde cases of the folder that
// BOURSE_GOLDEN_VOLUNTEERS names, by default the project's own copy: in exact
// fractions, and the floats to 1e-12.
func TestGoldenTDE(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("BOURSE_GOLDEN_VOLUNTEERS")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "experiments", "volunteers", "testdata", "golden")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden cases in %s (%v)", folder, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var cases struct {
			Cases []struct {
				ID, Kind string
				Options  json.RawMessage
				Input    struct {
					Trace       [][][]any
					Resource    int
					Now, Length float64
					Days        int
				}
				Expect map[string]json.RawMessage
			}
		}
		if err := json.Unmarshal(data, &cases); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, c := range cases.Cases {
			if c.Kind != "tde" {
				continue
			}
			t.Run(c.ID, func(t *testing.T) {
				o := DefaultTDE()
				if len(c.Options) > 0 {
					if err := yaml.UnmarshalWithOptions(c.Options, &o, yaml.Strict()); err != nil {
						t.Fatal(err)
					}
				}
				o.Days = c.Input.Days
				p, err := NewTDE(o)
				if err != nil {
					t.Fatal(err)
				}
				var records []availability.Record
				for _, r := range c.Input.Trace[c.Input.Resource] {
					state, err := availability.ParseState(r[2].(string))
					if err != nil {
						t.Fatal(err)
					}
					records = append(records, availability.Record{Start: r[0].(float64), End: r[1].(float64), State: state})
				}
				h := history(t, records)
				exact := p.Exact(h, c.Input.Now, c.Input.Length)
				f := p.Predict(h, c.Input.Now, c.Input.Length)
				for letter, got := range map[string]struct {
					exact *big.Rat
					float float64
				}{"A": {exact[0], f.Completes}, "P": {exact[1], f.UserPresent}, "C": {exact[2], f.Busy}, "U": {exact[3], f.Unavailable}} {
					text, ok := c.Expect[letter]
					if !ok {
						continue
					}
					want, ok := new(big.Rat).SetString(string(bytes.Trim(text, `"`)))
					if !ok {
						t.Fatalf("expectation %s", text)
					}
					if got.exact.Cmp(want) != 0 {
						t.Errorf("%s = %v, want %v", letter, got.exact.RatString(), want.RatString())
					}
					if w, _ := want.Float64(); math.Abs(got.float-w) > 1e-12 {
						t.Errorf("%s = %v, want %v", letter, got.float, w)
					}
				}
			})
		}
	}
}

type fataler interface {
	Helper()
	Fatal(...any)
}

func history(t fataler, records []availability.Record) *availability.History {
	t.Helper()
	h, err := availability.NewHistory("h", 1, records, availability.Gap)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// drawDays makes a history of about n days in whole seconds, of stretches of
// half an hour and some shorter than the gap.
func drawDays(rng *rand.Rand, n float64) []availability.Record {
	var records []availability.Record
	at := float64(rng.IntN(int(availability.Day)))
	for end := at + n*availability.Day; at < end; {
		r := availability.Record{Start: at, State: availability.Available}
		length := 1 + math.Floor(rng.ExpFloat64()*6000)
		if len(records) > 0 && records[len(records)-1].State == availability.Available && rng.IntN(8) > 0 {
			r.State = availability.State(2 + rng.IntN(4))
			length = 1 + math.Floor(rng.ExpFloat64()*2500)
			if rng.IntN(3) == 0 {
				length = float64(1 + rng.IntN(125))
			}
		}
		at += length
		r.End = at
		if rng.IntN(12) > 0 { // otherwise unknown
			records = append(records, r)
		}
	}
	return records
}

// plainTDE reads the definition as it stands, from the records: the intervals
// anew, every one of them for every day, in fractions.
func plainTDE(o TDEOptions, records []availability.Record, now, length float64) map[string]*big.Rat {
	type interval struct {
		x, y float64
		exit availability.State
	}
	// The gap rule: short runs of non-A between adjacent A become A.
	states := make([]availability.State, len(records))
	for i, r := range records {
		states[i] = r.State
	}
	for i := 1; i < len(records); i++ {
		if records[i].State == availability.Available || records[i-1].State != availability.Available {
			continue
		}
		j := i
		for j < len(records) && records[j].State != availability.Available && records[j].Start == records[j-1].End {
			j++
		}
		if j > i && j < len(records) && records[j].State == availability.Available && records[j].Start == records[j-1].End &&
			records[j].Start-records[i-1].End < 120 {
			for k := i; k < j; k++ {
				states[k] = availability.Available
			}
		}
	}
	var avail []interval
	for i, r := range records {
		if states[i] != availability.Available {
			continue
		}
		if n := len(avail); n > 0 && avail[n-1].y == r.Start {
			avail[n-1].y, avail[n-1].exit = r.End, availability.Unknown
		} else {
			avail = append(avail, interval{x: r.Start, y: r.End})
		}
		if i+1 < len(records) && records[i+1].Start == r.End {
			avail[len(avail)-1].exit = states[i+1]
		}
	}

	zero := func() map[string]*big.Rat {
		return map[string]*big.Rat{"A": new(big.Rat), "P": new(big.Rat), "C": new(big.Rat), "U": new(big.Rat)}
	}
	total := func(m map[string]*big.Rat) *big.Rat {
		sum := new(big.Rat)
		for _, x := range m {
			sum.Add(sum, x)
		}
		return sum
	}
	one := big.NewRat(1, 1)
	sums, pooled, days := zero(), zero(), int64(0)
	for d := 1; d <= o.Days; d++ {
		from := now - float64(d)*86400
		to := min(from+o.Plen*length, now)
		by := func(rule string) bool {
			switch rule {
			case "zero":
				sums["U"].Add(sums["U"], one)
			case "one":
				sums["A"].Add(sums["A"], one)
			}
			return rule != "skip"
		}
		if len(records) == 0 || to <= records[0].Start || from >= records[len(records)-1].End {
			if by(o.Missing) {
				days++
			}
			continue
		}
		counts := zero()
		for _, v := range avail {
			if clipped := min(v.y, to) - max(v.x, from); clipped > 0 {
				unit := length
				if o.Unit == "plen" {
					unit = o.Plen * length
				}
				fits := new(big.Rat).Quo(new(big.Rat).SetFloat64(clipped), new(big.Rat).SetFloat64(unit))
				whole := new(big.Int).Quo(fits.Num(), fits.Denom())
				switch {
				case o.Count == "floor":
					fits.SetInt(whole)
				case o.Count == "ceil" && !fits.IsInt():
					fits.SetInt(whole.Add(whole, big.NewInt(1)))
				}
				counts["A"].Add(counts["A"], fits)
			}
			if from < v.y && v.y < to && v.exit != availability.Unknown {
				s := v.exit.String()
				if s == "E" {
					s = "U"
				}
				counts[s].Add(counts[s], one)
			}
		}
		n := total(counts)
		if n.Sign() == 0 {
			if by(o.Empty) {
				days++
			}
			continue
		}
		days++
		for s := range counts {
			pooled[s].Add(pooled[s], counts[s])
			sums[s].Add(sums[s], new(big.Rat).Quo(counts[s], n))
		}
	}
	n := big.NewRat(days, 1)
	if o.Weight == "pooled" && total(pooled).Sign() > 0 {
		sums, n = pooled, total(pooled)
	} else if days == 0 {
		sums["A"].SetFloat64(o.NoHistory)
		sums["U"].Sub(one, sums["A"])
		n = one
	}
	for s := range sums {
		sums[s].Quo(sums[s], n)
	}
	return sums
}

// drawOptions draws any options of TDE.
func drawOptions(t *rapid.T) TDEOptions {
	return TDEOptions{
		Days:      rapid.IntRange(1, 8).Draw(t, "days"),
		Plen:      float64(rapid.IntRange(1, 4).Draw(t, "plen")),
		Count:     rapid.SampledFrom([]string{"ceil", "floor", "frac"}).Draw(t, "count"),
		Unit:      rapid.SampledFrom([]string{"exec", "plen"}).Draw(t, "unit"),
		Weight:    rapid.SampledFrom([]string{"day", "pooled"}).Draw(t, "weight"),
		Empty:     rapid.SampledFrom([]string{"zero", "skip", "one"}).Draw(t, "empty"),
		Missing:   rapid.SampledFrom([]string{"skip", "zero", "one"}).Draw(t, "missing"),
		NoHistory: rapid.SampledFrom([]float64{0, 0.25, 1}).Draw(t, "no history"),
	}
}

// TestTDEIsItsDefinition checks the predictor against a plain reading of the
// definition on 1,000 random histories, under any options: equal in fractions,
// to 1e-12 in floats, and all sums 1.
func TestTDEIsItsDefinition(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 7))
		records := drawDays(rng, 1+rng.Float64()*9)
		h := history(t, records)
		o := rapid.Custom(drawOptions).Example(int(seed))
		p, err := NewTDE(o)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			now := float64(rng.IntN(11 * int(availability.Day)))
			length := float64(1 + rng.IntN(1+rng.IntN(30_000)))
			if len(records) > 0 && rng.IntN(3) == 0 { // a window that starts or ends at an edge
				edges := []float64{records[rng.IntN(len(records))].End, records[0].Start, records[len(records)-1].End}
				now = edges[rng.IntN(3)] + availability.Day
				if rng.IntN(2) == 0 {
					now -= o.Plen * length
				}
			}
			want := plainTDE(o, records, now, length)
			exact := p.Exact(h, now, length)
			f := p.Predict(h, now, length)
			one := new(big.Rat)
			for i, s := range []string{"A", "P", "C", "U"} {
				if exact[i].Cmp(want[s]) != 0 {
					t.Fatalf("seed %d, %+v, now %v, length %v: %s = %v, want %v", seed, o, now, length, s, exact[i], want[s])
				}
				one.Add(one, exact[i])
				float := []float64{f.Completes, f.UserPresent, f.Busy, f.Unavailable}[i]
				if w, _ := want[s].Float64(); math.Abs(float-w) > 1e-12 {
					t.Fatalf("seed %d, %+v, now %v, length %v: %s = %v, want %v", seed, o, now, length, s, float, w)
				}
			}
			if one.Cmp(big.NewRat(1, 1)) != 0 || math.Abs(f.sum()-1) > 1e-12 {
				t.Fatalf("seed %d: sum is %v, in floats %v", seed, one, f.sum())
			}
		}
	}
}

// TestTDEBound checks that rounding up leaves no reliability below 1/2, unless
// a day without availability counts as one.
func TestTDEBound(t *testing.T) {
	t.Parallel()
	below := 0
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 8))
		h := history(t, drawDays(rng, 8))
		o := DefaultTDE()
		o.Empty, o.NoHistory = "skip", 1
		o.Weight = []string{"day", "pooled"}[seed%2]
		p, _ := NewTDE(o)
		o.Count = "floor"
		floor, _ := NewTDE(o)
		for range 20 {
			now, length := float64(rng.IntN(9*int(availability.Day))), float64(1+rng.IntN(20_000))
			if f := p.Predict(h, now, length); f.Completes < 0.5 {
				t.Fatalf("seed %d, now %v, length %v: %v, want at least 1/2", seed, now, length, f.Completes)
			}
			if floor.Predict(h, now, length).Completes < 0.5 {
				below++
			}
		}
	}
	if below < 1000 {
		t.Errorf("rounding down went below 1/2 only %d times: the bound was not tried", below)
	}
}

// TestCausality checks that a forecast does not depend on what is recorded
// after it, but for a gap that is still open.
func TestCausality(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 9))
		records := drawDays(rng, 6)
		h := history(t, records)
		v := h.Intervals()[len(h.Intervals())*2/3]
		now := v.Start + math.Floor((v.End-v.Start)*rng.Float64())
		var past []availability.Record
		for _, r := range records {
			if r.Start < now {
				r.End = min(r.End, now+1) // it goes on, nobody knows how long
				past = append(past, r)
			}
		}
		cut := history(t, past)
		if _, ok := cut.At(now); !ok {
			continue // in a gap that later proves short
		}
		for _, name := range Names() {
			p, err := New(name, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := p.Predict(cut, now, 3000), p.Predict(h, now, 3000); got != want {
				t.Fatalf("seed %d: %s knowing the past %v, the future too %v", seed, name, got, want)
			}
		}
	}
}

// TestTDERefuses checks that a wrong option is named.
func TestTDERefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"days: 0", "plen: 0", "plen: .inf", "count: round", "unit: x", "weight: x", "empty: x", "missing: x", "no_history: 2", "no_history: .nan", "nonsense: 1"} {
		_, err := New("tde", func(o any) error { return yaml.UnmarshalWithOptions([]byte(text), o, yaml.Strict()) }, nil)
		if err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

// BenchmarkTDE predicts for random hosts of 1,000 with 30 days of history, at
// random instants of the last day, and prints how many times longer it takes to
// recompute from the records.
func BenchmarkTDE(b *testing.B) {
	const n = 1000
	hosts := make([]*availability.History, n)
	raw := make([][]availability.Record, n)
	for i := range hosts {
		raw[i] = drawDays(rand.New(rand.NewPCG(uint64(i), 1)), 30)
		hosts[i] = history(b, raw[i])
	}
	for _, days := range []int{1, 6, 29} {
		b.Run(fmt.Sprintf("days=%d", days), func(b *testing.B) {
			o := DefaultTDE()
			o.Days = days
			p, err := NewTDE(o)
			if err != nil {
				b.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			next := func() (int, float64, float64) {
				return rng.IntN(n), 30*availability.Day + float64(rng.IntN(40_000)), 1 + math.Floor(rng.ExpFloat64()*1000)
			}
			const recomputed = 2000
			start := time.Now()
			for range recomputed {
				i, now, length := next()
				h, err := availability.NewHistory("", 1, raw[i], availability.Gap)
				if err != nil {
					b.Fatal(err)
				}
				p.Predict(h, now, length)
			}
			plain := time.Since(start).Seconds() / recomputed
			b.ReportAllocs()
			for b.Loop() {
				i, now, length := next()
				p.Predict(hosts[i], now, length)
			}
			b.ReportMetric(plain*float64(b.N)/b.Elapsed().Seconds(), "times-faster-than-raw")
		})
	}
}
