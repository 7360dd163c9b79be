package market

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// A plain is a history that stores all prices and computes the moments from all of them at
// every query.
type plain struct {
	window float64
	at     []float64
	price  []Rate
}

func (p *plain) observe(now float64, r Rate) {
	p.at, p.price = append(p.at, now), append(p.price, r)
}

// moments computes the mean and the deviation from their definitions in 300-bit arithmetic. It
// also reports whether the price was constant in the window.
func (p *plain) moments(now float64) (mean, deviation float64, single bool) {
	from := max(0, now-p.window)
	num := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
	sum, squares := num(0), num(0)
	current := Rate(0)
	stood := map[Rate]bool{}
	add := func(a, b float64, r Rate) {
		if a = max(a, from); b <= a {
			return
		}
		stood[r] = true
		dt := num(0).Sub(num(b), num(a))
		dt.Mul(dt, num(float64(r)))
		sum.Add(sum, dt)
		squares.Add(squares, dt.Mul(dt, num(float64(r))))
	}
	last := 0.0
	for i, at := range p.at {
		add(last, at, current)
		last, current = at, p.price[i]
	}
	add(last, now, current)
	length := num(0).Sub(num(now), num(from))
	if length.Sign() == 0 {
		return current.Float64(), 0, true
	}
	sum.Quo(sum, length)
	squares.Quo(squares, length)
	squares.Sub(squares, num(0).Mul(sum, sum))
	mean, _ = sum.Float64()
	variance, _ := squares.Float64()
	return mean / nano, math.Sqrt(max(0, variance)) / nano, len(stood) == 1
}

// TestMoments checks windowed moments computed by hand.
func TestMoments(t *testing.T) {
	t.Parallel()
	type seen struct {
		at    float64
		price Rate
	}
	for _, c := range []struct {
		name      string
		steps     []seen
		now       float64
		mean, std float64
	}{
		{"nothing seen", nil, 50, 0, 0},
		{"at the origin", []seen{{0, 4e9}}, 0, 4, 0},
		{"from the origin", []seen{{0, 4e9}}, 10, 4, 0},
		{"0 before the first bid", []seen{{30, 4e9}}, 40, 1, math.Sqrt(3)},
		{"cut off at the origin", []seen{{0, 1e9}, {10, 3e9}}, 20, 2, 1},
		{"a full window", []seen{{0, 9e9}, {100, 1e9}, {150, 3e9}}, 200, 2, 1},
		{"a step at its very start", []seen{{0, 9e9}, {100, 1e9}}, 200, 1, 0},
		{"the last of one instant", []seen{{0, 1e9}, {10, 7e9}, {10, 8e9}, {10, 3e9}}, 20, 2, 1},
		{"changed and changed back", []seen{{0, 1e9}, {10, 7e9}, {10, 1e9}}, 20, 1, 0},
		{"seen now", []seen{{0, 1e9}, {20, 7e9}}, 20, 1, 0},
		{"long ago", []seen{{0, 1e9}, {20, 7e9}}, 1e8, 7, 0},
	} {
		h, err := NewHistory(100)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range c.steps {
			h.Observe(s.at, s.price)
		}
		mean, std := h.Moments(c.now)
		if math.Abs(mean-c.mean) > 1e-15*c.mean || math.Abs(std-c.std) > 1e-15*c.std {
			t.Errorf("%s: moments = %v, %v, want %v, %v", c.name, mean, std, c.mean, c.std)
		}
	}
}

// TestMomentsAgainstRecomputation compares the moments with a computation from their
// definitions after random sequences of calls, some of them far from time 0.
func TestMomentsAgainstRecomputation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		window := rapid.SampledFrom([]float64{1, 60, 300, 1e4}).Draw(t, "window")
		h := History{window: window}
		want := plain{window: window}
		now := rapid.SampledFrom([]float64{0, 0.1, 1e5, 1e8}).Draw(t, "start")
		base := rapid.SampledFrom([]int64{0, 1e6, 1e10}).Draw(t, "base")
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			now += float64(rapid.OneOf(rapid.SampledFrom([]int{0, int(window * 1e6)}), rapid.IntRange(0, int(window*1e5)), rapid.IntRange(0, int(window*2e6))).Draw(t, "dt")) / 1e6
			if rapid.Bool().Draw(t, "observe") {
				p := Rate(base + rapid.Int64Range(0, 3).Draw(t, "price"))
				h.Observe(now, p)
				want.observe(now, p)
			}
			mean, std := h.Moments(now)
			wantMean, wantStd, single := want.moments(now)
			// The tolerance covers a few roundings of the result and, for the variance, those
			// of the integrals at about 100 bits.
			if math.Abs(mean-wantMean) > 1e-15*wantMean {
				t.Fatalf("mean at %v = %v, want %v", now, mean, wantMean)
			}
			if math.Abs(std*std-wantStd*wantStd) > 1e-14*wantStd*wantStd+1e-27*wantMean*wantMean {
				t.Fatalf("deviation at %v = %v, want %v", now, std, wantStd)
			}
			if single && std != 0 {
				t.Fatalf("deviation at %v = %v, want exactly 0", now, std)
			}
		}
	})
}

// TestGiantLeavesNothing checks that a price far above the others leaves no rounding error
// after it has left the window.
func TestGiantLeavesNothing(t *testing.T) {
	t.Parallel()
	h, want := History{window: 100}, plain{window: 100}
	observe := func(now float64, p Rate) {
		h.Observe(now, p)
		want.observe(now, p)
		h.Moments(now)
	}
	observe(0.1, MaxRate)
	observe(1e8, MaxRate-1)
	observe(1e8+0.1, MaxRate)
	observe(1e8+0.3, 3)
	observe(1e8+200, 5)
	observe(1e8+250, 2)
	mean, std := h.Moments(1e8 + 260)
	if wantMean, wantStd, _ := want.moments(1e8 + 260); mean != wantMean || math.Abs(std-wantStd) > 1e-15*wantStd {
		t.Errorf("moments = %v, %v, want %v, %v", mean, std, wantMean, wantStd)
	}
}

// TestHistoryForgets checks that the memory of a history does not grow with the length of the
// run.
func TestHistoryForgets(t *testing.T) {
	t.Parallel()
	for span, steps := range map[float64]int{0: 2, 10: 31, 1000: 1} {
		var h History
		for i := range 100_000 {
			h.Observe(1000+float64(i)*span, Rate(i))
		}
		if got := cap(h.steps); got > 2*steps+10 {
			t.Errorf("room for %d steps of a window that holds %d", got, steps)
		}
	}
	var h History
	for i := range 200 {
		h.Observe(float64(i), Rate(i))
	}
	room := cap(h.steps)
	for i := range 100_000 {
		h.Observe(float64(1000*(i+1)), Rate(i))
	}
	if got := cap(h.steps); got > room {
		t.Errorf("room for %d steps, once far fewer are held than when it was %d", got, room)
	}
}

// TestNewHistory checks which windows are rejected.
func TestNewHistory(t *testing.T) {
	t.Parallel()
	for _, w := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := NewHistory(w); err == nil {
			t.Errorf("NewHistory(%v): no error", w)
		}
	}
	if h, err := NewHistory(0); h.Window() != defaultWindow || err != nil {
		t.Errorf("NewHistory(0) has window %v, %v, want %v", h.Window(), err, defaultWindow)
	}
}
