package timetable

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestProfile checks the step function against one count per second.
func TestProfile(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const n, end = 5, 60
		var p profile
		p.reset(3, n)
		free := make([]int, 4*end)
		for i := range free {
			free[i] = n
		}
		now := int64(3)
		for range rapid.IntRange(1, 20).Draw(t, "spans") {
			from := rapid.Int64Range(now, end).Draw(t, "from")
			to := from + rapid.Int64Range(1, 12).Draw(t, "span")
			count := rapid.IntRange(-2, 2).Draw(t, "count")
			for s := from; s < to; s++ {
				if free[s]+count < 0 || free[s]+count > n {
					count = 0
				}
			}
			p.add(from, to, count)
			for s := from; s < to; s++ {
				free[s] += count
			}
			if rapid.Bool().Draw(t, "trim") {
				now += rapid.Int64Range(0, 2).Draw(t, "later")
				p.trim(now)
			}
			for s := now; s < end+20; s++ {
				if got := p.free[p.find(s)]; int(got) != free[s] {
					t.Fatalf("%d free at %d, want %d", got, s, free[s])
				}
			}
			at := rapid.Int64Range(now, end).Draw(t, "at")
			span := rapid.Int64Range(1, 9).Draw(t, "fit")
			need := rapid.IntRange(1, n).Draw(t, "need")
			limit := rapid.Int64Range(at, 2*end).Draw(t, "limit")
			ok := func(s int64) bool {
				for i := s; i < s+span; i++ {
					if free[i] < need {
						return false
					}
				}
				return true
			}
			want := at
			for !ok(want) {
				want++
			}
			if got := p.fit(at, limit, span, need); got != want && (got < limit || want < limit) {
				t.Fatalf("%d nodes for %d s from %d before %d: %d, want %d", need, span, at, limit, got, want)
			}
			if got := p.fits(at, span, need); got != ok(at) {
				t.Fatalf("%d nodes for %d s at %d: %v", need, span, at, got)
			}
		}
	})
}

// TestRatio checks the comparison against exact rationals.
func TestRatio(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func() Ratio {
			return Ratio{rapid.Int64().Draw(t, "num"), rapid.Int64Range(1, 1<<62).Draw(t, "den")}
		}
		a, b := draw(), draw()
		if rapid.Bool().Draw(t, "near") {
			b = Ratio{a.Num/3 + rapid.Int64Range(-1, 1).Draw(t, "off"), a.Den/3 + 1}
		}
		if a.Num == -1<<63 || b.Num == -1<<63 {
			return
		}
		x, y := big.NewRat(a.Num, a.Den), big.NewRat(b.Num, b.Den)
		if got, want := a.Cmp(b), x.Cmp(y); got != want {
			t.Fatalf("%v <=> %v = %d, want %d", a, b, got, want)
		}
		if got := a.String(); got != x.String() {
			t.Fatalf("%s, want %s", got, x)
		}
	})
}

// TestRatioTies checks that equal ratios compare as equal, and that ratios that differ only
// beyond 64 bits do not.
func TestRatioTies(t *testing.T) {
	t.Parallel()
	const far = 1 << 40
	for _, c := range []struct {
		a, b Ratio
		want int
	}{
		{Ratio{1, 3}, Ratio{2, 6}, 0}, {Ratio{0, 1}, Ratio{0, 9}, 0}, {Ratio{-1, 3}, Ratio{-2, 6}, 0},
		{Ratio{far, far}, Ratio{far + 1, far + 1}, 0}, {Ratio{1 << 62, 1}, Ratio{1 << 62, 1}, 0},
		{Ratio{far, 1 << 30}, Ratio{1 << 30, far}, 1}, {Ratio{far + 1, far}, Ratio{far, far - 1}, -1}, {Ratio{far, far - 1}, Ratio{far + 1, far}, 1},
	} {
		if got, back := c.a.Cmp(c.b), c.b.Cmp(c.a); got != c.want || back != -c.want {
			t.Errorf("%v <=> %v = %d, and %d the other way, want %d", c.a, c.b, got, back, c.want)
		}
	}
}

// TestSpan checks e = ceil(q*1000/speed) on the golden speeds and on bounds.
func TestSpan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ q, speed, want int64 }{
		{10, 1000, 10}, {10, 1500, 7}, {5, 1500, 4}, {10, 2000, 5}, {9, 2000, 5}, {1, MaxSpeed, 1},
		{13, 800, 17}, {Horizon, MinSpeed, 100 * Horizon},
	} {
		if got := Span(c.q, c.speed); got != c.want {
			t.Errorf("Span(%d, %d) = %d, want %d", c.q, c.speed, got, c.want)
		}
	}
}

// TestKey checks the order of planning, (d, t, a, id), one field at a time.
func TestKey(t *testing.T) {
	t.Parallel()
	base := Job{ID: 5, Arrival: 5, Earliest: 5, Deadline: 5}
	for _, c := range []struct {
		job  Job
		want int
	}{
		{Job{ID: 9, Arrival: 9, Earliest: 9, Deadline: 4}, -1},
		{Job{ID: 1, Arrival: 1, Earliest: 1, Deadline: 6}, 1},
		{Job{ID: 9, Arrival: 9, Earliest: 4, Deadline: 5}, -1},
		{Job{ID: 9, Arrival: 4, Earliest: 5, Deadline: 5}, -1},
		{Job{ID: 4, Arrival: 6, Earliest: 5, Deadline: 5}, 1},
		{Job{ID: 4, Arrival: 5, Earliest: 5, Deadline: 5}, -1},
		{base, 0},
	} {
		if got := compare(&c.job, &base); got != c.want {
			t.Errorf("%+v: %d, want %d", c.job, got, c.want)
		}
	}
}

// TestExtension checks max(1, ceil(e*pct/100)).
func TestExtension(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ span, pct, want int64 }{{10, 20, 2}, {1, 20, 1}, {11, 20, 3}, {100, 1, 1}} {
		if got := (&Config{ExtendPct: c.pct}).extension(c.span); got != c.want {
			t.Errorf("extension(%d) at %d%% = %d, want %d", c.span, c.pct, got, c.want)
		}
	}
}

// TestTimes checks ceil(f*span), without rounding up for rounding errors of float64.
func TestTimes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		f          float64
		span, want int64
	}{{0.07, 100, 7}, {1.1, 10, 11}, {0.071, 100, 8}, {2, 5, 10}, {1.5, 3, 5}, {0.01, 5, 1}, {1, Horizon, Horizon}} {
		if got := Times(c.f, c.span); got != c.want {
			t.Errorf("Times(%v, %d) = %d, want %d", c.f, c.span, got, c.want)
		}
	}
}

// TestUtilization checks each definition of utilization of a cluster of 4 nodes with 30
// node-seconds done by 10 s (eq. 4.2), 3 nodes in use, and 50 node-seconds remaining.
func TestUtilization(t *testing.T) {
	t.Parallel()
	q := Quote{Nodes: 4, Busy: 3, Executed: 30, Committed: 50, At: 10}
	for r, want := range map[Reading]string{Cumulative: "3/4", Instant: "3/4", Committed: "25/2"} {
		if got := q.Utilization(r).String(); got != want {
			t.Errorf("reading %d: %s, want %s", r, got, want)
		}
	}
	q.At, q.Executed = 0, 0
	if got := q.Utilization(Cumulative).String(); got != "0/1" {
		t.Errorf("at the origin: %s, want 0/1", got)
	}
}

// TestMeets checks that two intervals overlap if they share a second.
func TestMeets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b interval
		want bool
	}{
		{interval{0, 5}, interval{5, 9}, false}, {interval{5, 9}, interval{0, 5}, false},
		{interval{0, 6}, interval{5, 9}, true}, {interval{5, 9}, interval{0, 6}, true},
		{interval{0, 9}, interval{3, 4}, true}, {interval{3, 4}, always, true},
		{interval{3, 4}, never, false},
	} {
		if got := c.a.meets(c.b); got != c.want {
			t.Errorf("%v meets %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// TestKind checks the short names of the kinds.
func TestKind(t *testing.T) {
	t.Parallel()
	if Advance.String() != "AR" || OnDemand.String() != "OD" {
		t.Errorf("%v and %v, want AR and OD", Advance, OnDemand)
	}
}

// TestWhat checks that every kind of fact has a name.
func TestWhat(t *testing.T) {
	t.Parallel()
	for w, want := range map[What]string{
		Started: "started", Ended: "ended", Killed: "killed", Extended: "extended", Cancelled: "cancelled",
		Suspended: "suspended", Resumed: "resumed", Resumed + 1: "What(7)", 99: "What(99)",
	} {
		if got := w.String(); got != want {
			t.Errorf("%d = %q, want %q", w, got, want)
		}
	}
}
