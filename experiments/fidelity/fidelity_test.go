package fidelity

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/experiments/live"
)

// two returns a run of which each side is the same, but for what change does to the live one.
func two(change func(i int, c *live.TwiceDecided), delivered func(i int) float64, price func(p float64) float64) *Run {
	t := &live.Twice{Begin: 1000, End: 1100}
	for i := range 20 {
		course := live.Course{Decision: json.RawMessage(`{"decision":"accept","share":0.5,"threshold":0.4}`), State: "fulfilled", Ended: 1020 + float64(4*i), Paid: bank.Micros(100_000 + int64(i))}
		c := live.TwiceDecided{Contract: int64(i), Asked: 1000 + float64(4*i), Work: 10, Nodes: 1, Live: course, Computed: course, FirstWork: 0.25}
		change(i, &c)
		t.Contracts = append(t.Contracts, c)
		t.Shares = append(t.Shares, live.Shared{Host: "h00", Contract: int64(i), For: 5, Entitled: 1, Delivered: delivered(i)})
		p := live.HostPrice{Host: i % 2, Price: live.Price{At: 1000 + float64(4*i), Price: 0.01 * float64(1+i%5)}}
		t.Prices[1] = append(t.Prices[1], p)
		p.Price.Price = price(p.Price.Price)
		t.Prices[0] = append(t.Prices[0], p)
	}
	return &Run{Policy: "be", Twice: t, CPUs: 2, Steal: math.NaN(), Scale: 30}
}

// began gives every other task of run only that part of a host while it began.
func (run *Run) began(part float64) *Run {
	for i := range run.Twice.Shares {
		if i%2 == 0 {
			s := run.Twice.Shares[i]
			s.Partly, s.For, s.Delivered = true, 2, part
			run.Twice.Shares = append(run.Twice.Shares, s)
		}
	}
	return run
}

// TestCompare compares runs of which one side is changed by what may be, and by what may not.
func TestCompare(t *testing.T) {
	t.Parallel()
	same := func(int, *live.TwiceDecided) {}
	given := func(i int) float64 { return 1 + 0.004*float64(i%3-1) }
	alike := func(p float64) float64 { return p }
	refused := func(share string) func(int, *live.TwiceDecided) {
		return func(i int, c *live.TwiceDecided) {
			if i == 7 {
				c.Live.Decision, c.Live.State = json.RawMessage(`{"decision":"reject","share":`+share+`,"threshold":0.4}`), "refused"
			}
		}
	}
	for _, test := range []struct {
		name   string
		run    *Run
		broken string // measures that are not met
	}{
		{"same", two(same, given, alike), ""},
		{"near its threshold", two(refused("0.39"), given, alike), ""},
		{"far from its threshold", two(refused("0.3"), given, alike), "decisions"},
		{"a little late", two(func(_ int, c *live.TwiceDecided) { c.Live.Ended += 0.3 }, given, alike), ""},
		{"all late", two(func(_ int, c *live.TwiceDecided) { c.Live.Ended += 0.5 }, given, alike), "median"},
		{"some very late", two(func(i int, c *live.TwiceDecided) {
			if i%9 == 0 {
				c.Live.Ended += 2
			}
		}, given, alike), "percentile"},
		{"shares off", two(same, func(i int) float64 { return 0.93 + 0.001*float64(i%3) }, alike), "share"},
		{"shares off where one began", two(same, given, alike).began(0.5), ""},
		{"prices off", two(same, given, func(p float64) float64 { return 1.1 * p }), "mean difference"},
		{"other prices", two(same, given, func(p float64) float64 { return 0.06 - p }), "means: r;mean difference"},
		{"one overcharged", two(func(i int, c *live.TwiceDecided) {
			if i == 3 {
				c.Live.Paid = bank.Micros(110_000)
			}
		}, given, alike), "largest"},
		{"all overcharged", two(func(_ int, c *live.TwiceDecided) { c.Live.Paid = bank.Micros(c.Live.Paid.Micros() * 104 / 100) }, given, alike), "in all"},
	} {
		r := Compare([]Run{*test.run})
		var broken []string
		for _, row := range r.Rows {
			if row.Verdict != "met" {
				broken = append(broken, row.Measure)
			}
		}
		want := strings.FieldsFunc(test.broken, func(c rune) bool { return c == ';' })
		ok := len(broken) == len(want)
		for i := range broken {
			ok = ok && strings.Contains(broken[i], want[i])
		}
		if !ok || r.Met() != (len(want) == 0) || !r.Testable {
			t.Errorf("%s: not met are %q, want %q", test.name, broken, want)
		}
	}
}

// TestNoTest checks that nothing but the log is judged where the machine gave too little.
func TestNoTest(t *testing.T) {
	t.Parallel()
	run := two(func(int, *live.TwiceDecided) {}, func(int) float64 { return 0.85 }, func(p float64) float64 { return p })
	run.Differences = 2
	r := Compare([]Run{*run})
	for _, row := range r.Rows {
		if want := map[bool]string{true: "not met", false: "not testable"}[row.Measure == logAgain]; row.Verdict != want {
			t.Errorf("%+v, want %s", row, want)
		}
	}
	if r.Testable || r.Met() {
		t.Error("it is testable")
	}
	if _, err := r.Document([]Run{*run}).Files("page.html"); err != nil {
		t.Error(err)
	}
}
