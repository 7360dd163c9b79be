package claims

import (
	"bourse/workloadgen/config"

	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"bourse/experiments/results"
	"bourse/experiments/stats"
)

// lab contains three replications of two policies at four points of two axes, and one
// separate place. At load x, width w and replication r, policy a has 10 x + w + r/10, and b
// has 5. At width 2, b is undefined.
func lab() []*Results {
	r := &Results{Experiment: "lab", Axes: []string{"load", "width"}}
	add := func(configuration, policy string, rep int, x float64, ok bool) {
		row := results.Metric{Configuration: configuration, Admission: policy, Replication: rep, Metric: "m"}
		if ok {
			row.Value = &x
		}
		r.Add(row)
	}
	for _, p := range []struct {
		name        string
		load, width float64
	}{{"c@0,1", 0, 1}, {"c@0,2", 0, 2}, {"c@1,1", 1, 1}, {"c@1,2", 1, 2}} {
		for rep := range 3 {
			add(p.name, "a", rep, 10*p.load+p.width+float64(rep)/10, true)
			add(p.name, "b", rep, 5, p.width == 1)
		}
	}
	for rep := range 3 {
		x := float64(rep)
		r.Add(results.Metric{Configuration: "d@0,1", Admission: "a", Replication: rep, Metric: "l", Value: &x})
		add("d@0,1", "a", rep, 0, true)
		add("d@0,1", "none", rep, 0, false)
	}
	return []*Results{r}
}

// TestNumbers checks every metric, policy, place and relation that rows can contain, with
// numbers computed by hand. With two degrees of freedom, p is 1 - t/√(2 + t²).
func TestNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		// The mean over points and over replications is 5 + 1.5 + 0.1, with the standard error
		// 0.1/√3.
		"m, a, lab/c, higher, 6":                                            "SUPPORTED 6.6 0.00913",
		"m, a, lab/c, higher, 6.5":                                          "UNDECIDED 6.6 0.225",
		"m, a, lab/c, higher, 8":                                            "CONTRADICTED 6.6 0.0017",
		"m, a, lab/c, lower, 7":                                             "SUPPORTED 6.6 0.0202",
		"m, a, lab/c, much higher, 6.2":                                     "SUPPORTED 6.6 0.0261",
		"m, a, lab/c, much lower, 6.2":                                      "CONTRADICTED 6.6 0.0161",
		"m, a, lab/c, similar, 6.6":                                         "UNDECIDED 6.6 0.478",
		"m, a, lab/c, similar, [6, 7.2]":                                    "SUPPORTED 6.6 0.0078",
		"m, a, lab/c, not lower, 7":                                         "CONTRADICTED 6.6 0.0261",
		"m, a, lab/c, not higher, 7":                                        "SUPPORTED 6.6 0.0161",
		"m, a, lab/c @ load 1, higher, 0":                                   "SUPPORTED 11.6 2.48e-05",
		`m, a, "lab/c @ load 0..0.5, width 2", higher, 0`:                   "SUPPORTED 2.1 0.000755",
		"m, a, lab/c - lab/d, higher, 0":                                    "SUPPORTED 6.6 7.65e-05",
		"m, a, lab/c & d, higher, 0":                                        "SUPPORTED 5.28 7.65e-05", // mean of five points
		"m, a - b, lab/c, higher, 0":                                        "SUPPORTED 1.1 0.00274",   // mean over the points at which b is defined
		"m, a / b, lab/c @ load 0, lower, 0":                                "SUPPORTED -0.78 0.000219",
		"m, a | b, lab/c @ load 1 | lab/c @ load 0, higher, 0":              "SUPPORTED 6.6 7.65e-05",
		"m - l, a, lab/d, lower, 0":                                         "UNDECIDED -1 0.225",
		"m + l, a, lab/d, higher, 0":                                        "UNDECIDED 1 0.225",
		"m, b, lab/c, similar, 5":                                           "UNDECIDED 5 -", // b never varies and has no bounds
		"m, b, lab/c, similar, 5]], no_chance: b knows no chance":           "SUPPORTED 5 -",
		"m, b, lab/c, similar, 6]], no_chance: b knows no chance":           "CONTRADICTED 5 -",
		"m, a, lab/c, higher, 0]], no_chance: of a that is not true":        "SUPPORTED 6.6 7.65e-05",
		"m, a, lab/c along load, higher, 0]], no_chance: a rises by ten":    "SUPPORTED 10 -",
		"m, a, lab/c spread width, similar, 1]], no_chance: a rises by one": "SUPPORTED 1 -",
		"m, a, lab/c & d spread *, higher, 0":                               "SUPPORTED 6.6 7.65e-05",
		"m, a / b, lab/c along load, higher, 0]], no_chance: ten by five":   "SUPPORTED 2 -",
		"effect of m, a, lab/c - lab/c @ load 0, higher, 0":                 "UNDECIDED 50 0.168", // (6.6 - 1.6)/0.1, its pseudo-values 8.58, 79.3 and 8.58
		"log sd of m, a, lab/c - lab/d, higher, 0":                          "NOT TESTABLE: m of a is undefined in lab",
		"m - x, a, lab/d, lower, 0":                                         "NOT TESTABLE: lab: no x of configuration d",
		"m, none, lab/d, higher, 0":                                         "NOT TESTABLE: m of none is undefined in lab",
		"m, c, lab/c, higher, 0":                                            "NOT TESTABLE: lab: c was not run under c",
		"m, a, lab/e, higher, 0":                                            "NOT TESTABLE: lab: no m of configuration e",
		"x, a, lab/c, higher, 0":                                            "NOT TESTABLE: lab: no x of configuration c",
		"m, a, field/c, higher, 0":                                          "NOT TESTABLE: no results of field",
		"m, a, lab/c along age, higher, 0":                                  "NOT TESTABLE: lab has no axis age",
		"m, a, lab/c @ load 7, higher, 0":                                   "NOT TESTABLE: lab: no point of c",
		"m, a, lab/c @ load 1 along load, higher, 0":                        "NOT TESTABLE: lab: want at least two values of load",
		`"l over m, m", a / a, lab/d, higher, 0`:                            "UNDECIDED 1 0.225",
	} {
		p, err := Read("test", []byte(`{name: x, title: x, claims: [{id: "1", quote: q, section: s, margin: 0.05, source: s, rows: [[`+row(text)+`}]}`))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		j := Judge(p, lab())[0]
		got := string(j.Verdict)
		if j.Why != "" {
			got += ": " + j.Why
		}
		if len(j.Outcomes) == 1 {
			got += " " + short(&j.Outcomes[0].Value) + " " + short(j.P)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// row returns text with the end of a row and of the list of rows, unless text contains several rows.
func row(text string) string {
	if strings.Contains(text, "]], ") {
		return text
	}
	return text + "]]"
}

func short(x *float64) string {
	if x == nil {
		return "-"
	}
	return strconv.FormatFloat(*x, 'g', 3, 64)
}

// trial returns the results of n replications of policies with the given means and common
// noise.
func trial(rng *rand.Rand, n int, noise float64, means map[string]float64) []*Results {
	r := &Results{Experiment: "lab", Axes: []string{"load"}, Ends: map[string][2]float64{"part": {0, 1}}}
	for rep := range n {
		common := rng.NormFloat64()
		for _, load := range []float64{0, 1, 2} {
			point := fmt.Sprintf("c@%g", load)
			for policy, mean := range means {
				x := 10 + common + mean*(1+load) + noise*rng.NormFloat64()
				r.Add(results.Metric{Configuration: point, Admission: policy, Replication: rep, Metric: "m", Value: &x})
			}
			for _, metric := range []string{"part", "bare"} {
				r.Add(results.Metric{Configuration: point, Admission: "be", Replication: rep, Metric: metric, Value: new(float64)})
			}
		}
	}
	return []*Results{r}
}

// kinds are claims of every kind, with a margin of 0.1. They concern the policies be, good
// (1 per load higher) and alike (the same as be).
var kinds = map[string]string{
	"direction":            "[m, good - be, lab/c, higher, 0]",
	"size":                 "[m, good - be, lab/c, much higher, 0, 1.5]",
	"similar":              "[m, alike - be, lab/c, similar, 0]",
	"printed":              "[m, good - be, lab/c, similar, 2]",
	"best of three":        "[m, good - be, lab/c, not lower, 0], [m, good - alike, lab/c, not lower, 0]",
	"ratio":                "[m, good / be, lab/c, similar, 0.2, 0.1]",
	"difference of ratios": "[m, good / be, lab/c @ load 2 - lab/c @ load 0, much higher, 0]",
	"trend":                "[m, good - be, lab/c along load, similar, 2]",
	"flat":                 "[m, alike - be, lab/c spread load, not higher, 0]",
	"spreads":              "[m, good | be, lab/c spread load | lab/c spread load, much higher, 0]",
	"deviations":           "[log sd of m, good - be | good - alike, lab/c | lab/c, similar, 0, 2]",
}

// TestPlanted checks each kind of claim. If the noise is small, a true claim must be
// SUPPORTED and a false one CONTRADICTED. If the noise is large, both must be undecided,
// and the stated number of replications must decide them.
func TestPlanted(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	right := map[string]float64{"be": 0, "good": 1, "alike": 0}
	wrong := map[string]float64{"be": 0, "good": -0.02, "alike": 0.5}
	judge := func(tests string, found []*Results) Judgement {
		p, err := Read("test", []byte(`{name: x, title: x, claims: [{id: "1", quote: q, section: s, margin: 0.1, source: s, rows: [`+tests+`]}]}`))
		if err != nil {
			t.Fatal(err)
		}
		return p.Claims[0].judge(found, 10_000) // with 10,000 claims, the level is so small that wrong verdicts are unlikely
	}
	for kind, tests := range kinds {
		if got := judge(tests, trial(rng, 60, 0.02, right)); got.Verdict != Supported {
			t.Errorf("seed %d: %s: true, and %s: %+v", seed, kind, got.Verdict, got.Outcomes)
		}
		if kind != "deviations" {
			if got := judge(tests, trial(rng, 60, 0.02, wrong)); got.Verdict != Contradicted {
				t.Errorf("seed %d: %s: wrong, and %s: %+v", seed, kind, got.Verdict, got.Outcomes)
			}
		}
		noisy := judge(tests, trial(rng, 4, 8, right))
		if kind == "deviations" {
			noisy = judge(tests, trial(rng, 3, 0.02, right))
		}
		if noisy.Verdict != Undecided {
			t.Errorf("seed %d: %s: noisy, and %s: %+v", seed, kind, noisy.Verdict, noisy.Outcomes)
		}
	}
	same := judge(kinds["direction"], trial(rng, 60, 0.02, map[string]float64{"be": 0, "good": 0}))
	if same.Verdict != Undecided || !same.Outcomes[0].Equal {
		t.Errorf("seed %d: a direction of what is the same is %s: %+v", seed, same.Verdict, same.Outcomes)
	}
	unequal := "[log sd of m, good | good - be, lab/c | lab/c, similar, 0, 0.5]"
	if got := judge(unequal, trial(rng, 60, 0.02, right)); got.Verdict != Contradicted {
		t.Errorf("seed %d: deviations that differ are %s similar", seed, got.Verdict)
	}
	noisy := judge(kinds["size"], trial(rng, 5, 2, right))
	if noisy.Needed == nil {
		t.Fatalf("seed %d: nothing would decide it: %+v", seed, noisy)
	}
	if n := *noisy.Needed; n < 6 {
		t.Errorf("seed %d: %d replications are needed, of 5 with a deviation of 2", seed, n)
	}
}

// TestJudge checks that a claim is supported only if all its tests are inside their regions,
// that one test outside contradicts the claim, and that names in lists are separate tests. The
// number m of claims excludes claims that are post hoc or not testable. Half the margin is
// tested too. A sentence on two panels is one claim that counts both panels.
func TestJudge(t *testing.T) {
	t.Parallel()
	p, err := Read("test", []byte(`
name: x
title: x
claims:
  - {id: "1", quote: q, section: s, margin: 0.5, source: s, rows: [[m, [a, b], lab/c, higher, 4]]}
  - {id: "2", quote: q, section: s, margin: 0.8, source: s, rows: [[m, a, lab/c, similar, 6.6]]}
  - {id: "3", quote: q, section: s, untestable: nobody counted}
  - {id: "4", quote: q, section: s, margin: 1, source: s, rows: [[m, a, lab/c, higher, 0], [m, a, lab/c, lower, 1]]}
  - {id: 2-late, quote: q, section: s, post_hoc: it was too narrow, margin: 2, source: s, rows: [[m, a, lab/c, similar, 6.6]]}
  - {id: "5", quote: q, section: s, post_hoc: two places, margin: 1, source: s, rows: [[m, a, lab/c, higher, 8], [l, a, lab/d, higher, 0]]}
`))
	if err != nil {
		t.Fatal(err)
	}
	j := Judge(p, lab())
	if n := len(j[0].Outcomes); n != 2 || j[0].Verdict != Undecided || j[0].Decides != 1 || j[0].Needed != nil {
		t.Errorf("claim 1: %d tests, %s by number %d; want 2, UNDECIDED by 1: b does not vary", n, j[0].Verdict, j[0].Decides)
	}
	if j[1].Verdict != Supported || j[1].Half != Undecided || j[1].Outcomes[0].Level != 1-0.05/3 {
		t.Errorf("claim 2: %+v, want SUPPORTED at one of three, and UNDECIDED at half the margin", j[1])
	}
	if j[2].Verdict != NotTestable || j[2].Why != "nobody counted" || j[3].Verdict != Contradicted || j[3].Decides != 1 {
		t.Errorf("claims 3 and 4: %+v, %+v", j[2], j[3])
	}
	one := j[1].Outcomes[0]
	if !(math.Abs(*j[1].P-3**one.P) <= 1e-12) || !(math.Abs(*j[3].P-3*2**j[3].Outcomes[1].P) <= 1e-12) {
		t.Errorf("claim 2: p %v becomes %v among three; claim 4: %v of two becomes %v", *one.P, *j[1].P, *j[3].Outcomes[1].P, *j[3].P)
	}
	if n := j[5].Panels; j[5].Verdict != Contradicted || n[Contradicted] != 1 || n[Undecided] != 1 || len(j[0].Panels) != 1 {
		t.Errorf("claim 5: %s, %v; want CONTRADICTED, one panel of two", j[5].Verdict, n)
	}
	if j[4].Verdict != Supported || j[4].PostHoc == "" || j[4].Outcomes[0].Level != one.Level {
		t.Errorf("post hoc: %+v", j[4])
	}
}

// TestNoChance checks that a number that is the same in all replications is compared with the
// region directly, with a note, and that a claim stays undecided after a single replication.
func TestNoChance(t *testing.T) {
	t.Parallel()
	p, err := Read("test", []byte(`{name: x, title: x, claims: [{id: "1", quote: q, section: s, margin: 1, source: s, rows: [[m, a, lab/c, higher, 0]]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]Verdict{1: Undecided, 2: Supported} {
		r := &Results{Experiment: "lab"}
		for rep := range n {
			x := 0.5
			r.Add(results.Metric{Configuration: "c", Admission: "a", Replication: rep, Metric: "m", Value: &x})
		}
		j := Judge(p, []*Results{r})[0]
		if j.Verdict != want || (j.Outcomes[0].Exact != "") != (n == 2) || j.P != nil || j.Outcomes[0].Lo != nil {
			t.Errorf("%d alike: %+v, want %s", n, j, want)
		}
	}
	zero := &Results{Experiment: "lab"}
	for rep := range 2 {
		zero.Add(results.Metric{Configuration: "c", Admission: "a", Replication: rep, Metric: "m", Value: new(0.0)})
	}
	if j := Judge(p, []*Results{zero})[0]; j.Verdict != Contradicted || j.Half != Contradicted {
		t.Errorf("0 is higher than 0: %s, at half the margin %s", j.Verdict, j.Half)
	}
	p.Claims[0].Rows[0].Policy = config.Some[string]{"a / a"}
	one := &Results{Experiment: "lab"}
	one.Add(results.Metric{Configuration: "c", Admission: "a", Metric: "m", Value: new(2.0)})
	if j := Judge(p, []*Results{one})[0]; j.Verdict != Undecided || j.Outcomes[0].N != 1 {
		t.Errorf("a ratio of one replication: %+v", j)
	}
	apart := lab()
	apart[0].Apart = "hosts: found 3, the paper has 15"
	if j := Judge(p, apart)[0]; j.Verdict != NotTestable || !strings.Contains(j.Why, "hosts: found 3") {
		t.Errorf("another experiment: %+v", j)
	}
}

// TestTrials checks that a mean has the same interval as in all tables, at the level of the
// claims. The interval uses the trials in the rows, even if all replications are equal.
func TestTrials(t *testing.T) {
	t.Parallel()
	p, err := Read("test", []byte(`{name: x, title: x, claims: [{id: "1", quote: q, section: s, margin: 0.05, source: s, rows: [[none, a, lab/c, lower, 0]]}, {id: "2", quote: q, section: s, margin: 0.05, source: s, rows: [[some, a, lab/c, lower, 0]]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	r := &Results{Experiment: "lab", Ends: map[string][2]float64{"none": {0, 1}, "some": {0, 1}}}
	values := map[string][]float64{"none": make([]float64, 10), "some": {0.1, 0, 0.2, 0, 0.1, 0.05, 0, 0.1, 0, 0}}
	for name, xs := range values {
		for rep, x := range xs {
			r.Add(results.Metric{Configuration: "c", Admission: "a", Replication: rep, Metric: name, Value: &x, Trials: new(20)})
		}
	}
	for i, j := range Judge(p, []*Results{r}) {
		lo, hi, _ := stats.Interval(values[[]string{"none", "some"}[i]], stats.Quantity{Hi: 1, Trials: 200}, risk/2)
		if o := j.Outcomes[0]; o.Lo == nil || *o.Lo != lo || *o.Hi != hi {
			t.Errorf("%s: %+v, want the interval [%v, %v]", j.ID, o, lo, hi)
		}
	}
}

// TestHalf checks that half the margin can contradict what the whole margin supports.
func TestHalf(t *testing.T) {
	t.Parallel()
	p, err := Read("test", []byte(`{name: x, title: x, claims: [{id: "1", quote: q, section: s, margin: 10, source: s, rows: [[m, a, lab/c, similar, 0]]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if j := Judge(p, lab())[0]; j.Verdict != Supported || j.Half != Contradicted {
		t.Errorf("6.6 within 10 is %s, and within 5 %s", j.Verdict, j.Half)
	}
}

// TestEnds checks the range of the difference of two metrics that have bounds.
func TestEnds(t *testing.T) {
	t.Parallel()
	r := &Results{Ends: map[string][2]float64{"part": {0, 1}, "score": {-1, 1}}}
	for text, want := range map[[2]string]string{
		{"part", "a"}:             "0 1",
		{"part - score", "a"}:     "-1 2",
		{"part", "a - b"}:         "-1 1",
		{"part - score", "a - b"}: "-3 3",
		{"part - time", "a"}:      "-Inf +Inf",
		{"part", "a / b"}:         "-Inf +Inf",
	} {
		one := Row{Metric: config.Some[string]{text[0]}, Policy: config.Some[string]{text[1]}, Place: config.Some[string]{"e/c"}}
		all, err := one.measures()
		if err != nil {
			t.Fatal(err)
		}
		if lo, hi := all[0].ends(r); fmt.Sprint(lo, hi) != want {
			t.Errorf("%v has values between %v and %v, want %s", text, lo, hi, want)
		}
	}
}

// TestStream checks that each row needs only eight bytes for its number, plus the reserve
// of a growing slice, which is 25 %.
func TestStream(t *testing.T) {
	const n = 200_000
	held := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := held()
	r := &Results{Experiment: "lab"}
	line := []byte("c@1,be,m")
	for rep := range n {
		x := float64(rep)
		r.Add(results.Metric{Configuration: string(line[:3]), Admission: string(line[4:6]), Replication: rep, Metric: string(line[7:]), Value: &x})
	}
	if each := float64(held()-before) / n; each > 11 {
		t.Errorf("%.1f bytes are kept of a row, want 8 and a quarter", each)
	}
	runtime.KeepAlive(r)
}

// TestHashes checks that the hash of a claim depends only on its content, not on the
// layout, comments or the field otherwise.
func TestHashes(t *testing.T) {
	t.Parallel()
	const one = `{id: "1", quote: q, section: s, margin: 1, source: s, rows: [[m, a, lab/c, higher, 0]]}`
	read := func(claim string) Paper {
		p, err := Read("test", []byte("name: x\ntitle: x\nclaims:\n  - "+claim+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := read(one)
	same := read(strings.Replace(one, `{id: "1", quote: q`, `{otherwise: it is not, quote: 'q', id: "1"`, 1) + " # of one")
	other := read(strings.Replace(one, "margin: 1", "margin: 2", 1))
	if first.Hashes["1"] != same.Hashes["1"] || first.SHA256 == same.SHA256 {
		t.Errorf("laid out otherwise: %s and %s, files %s and %s", first.Hashes["1"], same.Hashes["1"], first.SHA256, same.SHA256)
	}
	if first.Hashes["1"] == other.Hashes["1"] || len(first.Hashes["1"]) != 16 {
		t.Errorf("another margin: %s and %s", first.Hashes["1"], other.Hashes["1"])
	}
}

// TestRead checks that an error in a file of claims names the claim.
func TestRead(t *testing.T) {
	t.Parallel()
	with := func(row string) string { return `[{id: "1", quote: q, section: s, rows: [[` + row + `]]}]` }
	for text, want := range map[string]string{
		`[{id: "1", quote: q, section: s}]`: "claim 1: want rows, or untestable",
		`[{id: "1", quote: q, section: s, untestable: u, rows: [[m, a, e/c, higher, 0, 1, s]]}]`:  "claim 1: want rows, or untestable",
		`[{id: "1", section: s, untestable: u}]`:                                                  "claim 1: want id, quote and section",
		`[{id: "1", quote: q, section: s, source: s, margin: 0, rows: [[m, a, e/c, higher, 0]]}]`: "want a margin above 0",
		with("m, a, e/c, higher"):                          "claims.0.rows.0: found a list, want [metric, policy, place, relation, number, margin, source]",
		with("m, a, e/c, higher, 0, 1, s, t"):              "want [metric, policy, place, relation, number, margin, source]",
		with("m, a, e/c, higher, x, 1, s"):                 "claims.0.rows.0.4: found x",
		with(`m, a, e/c, "", 0, 1, s`):                     `relation: found "", want one of higher`,
		with("m, a, e/c, above, 0, 1, s"):                  `relation: found "above"`,
		with("m, a, e/c, higher, 0, 1"):                    "and its source",
		with("m, a, e/c, higher, 0"):                       "want a margin above 0",
		with("m, [], e/c, higher, 0, 1, s"):                "want metric, policy and place",
		with("m, a, e/c, higher, [1, 2], 1, s"):            "number: want a number",
		with("m, a, c, higher, 0, 1, s"):                   `place: found "c", want EXPERIMENT/CONFIGURATION`,
		with(`m, a, e/c @ x 2..1, higher, 0, 1, s`):        `place: found "x 2..1", want AXIS VALUE`,
		with(`m, a, e/c @ x, higher, 0, 1, s`):             `place: found "x", want AXIS VALUE`,
		with("m, a, e/c - e/d - e/f, higher, 0, 1, s"):     "place: found",
		with("m, a, e/c along x - e/d, higher, 0, 1, s"):   "want one axis",
		with("m, a | b, e/c, higher, 0, 1, s"):             "want one place for each of two policies",
		with("m n, a, e/c, higher, 0, 1, s"):               `metric: found "n", want + or -`,
		with(`"", a, e/c, higher, 0, 1, s`):                "metric: found",
		with("m over p, a / b, e/c, higher, 0, 1, s"):      "want a metric, or p_a over p, q",
		with(`"m over p, q", a - b, e/c, higher, 0, 1, s`): "policy: found",
		with("log sd of m, a / b, e/c, higher, 0, 1, s"):   "policy: found",
		`[{id: "1", quote: q, section: s, untestable: u}, {id: "1", quote: q, section: s, untestable: u}]`: "claim 1: found twice",
		`[{id: "1", quote: q, section: s, untestable: u, tetss: []}]`:                                      "tetss",
	} {
		_, err := Read("f.yaml", []byte("{name: x, title: x, claims: "+text+"}"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
