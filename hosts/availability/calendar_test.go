package availability

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestCalendar checks that a calendar has, for each hour, the first interval that ends in it or
// later. The first interval that ends after a given time must equal the result of a linear
// search.
func TestCalendar(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var intervals []Interval
		at := float64(rapid.IntRange(-9000, 9000).Draw(t, "origin"))
		for range rapid.IntRange(1, 40).Draw(t, "intervals") {
			v := Interval{Start: at, End: at + rapid.OneOf(rapid.SampledFrom([]float64{1, 1800, hour}), rapid.Float64Range(1, 9000)).Draw(t, "length")}
			intervals = append(intervals, v)
			at = v.End + rapid.SampledFrom([]float64{1, 600, hour, 30 * hour}).Draw(t, "hole")
		}
		first := func(at float64) int {
			for i, v := range intervals {
				if v.End > at {
					return i
				}
			}
			return len(intervals)
		}
		c := newCalendar(intervals)
		span := intervals[len(intervals)-1].End - c.origin
		if c.origin != intervals[0].Start || len(c.hours) != int(span/hour)+1 {
			t.Fatalf("%d hours from %v, want those of %v s from %v", len(c.hours), c.origin, span, intervals[0].Start)
		}
		for k, i := range c.hours {
			if want := first(c.origin + float64(k)*hour); int(i) != want {
				t.Fatalf("hour %d: interval %d, want %d", k, i, want)
			}
		}
		for range 20 {
			at := rapid.OneOf(rapid.Float64Range(c.origin-hour, c.origin+span+hour), rapid.SampledFrom([]float64{c.origin, c.origin + span, intervals[len(intervals)/2].End})).Draw(t, "at")
			for _, c := range []calendar{c, {origin: c.origin}} {
				if got, want := c.after(intervals, at), first(at); got != want {
					t.Fatalf("after %v: %d, want %d", at, got, want)
				}
			}
		}
	})
}

// TestNoCalendar checks that few intervals over a long time get no calendar, because it would
// be far larger than the intervals, and that no intervals get none.
func TestNoCalendar(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hours float64 // from the start of the first interval to the end of the second
		want  int
	}{{1, 2}, {2000, 2001}, {2001, 0}} {
		got := newCalendar([]Interval{{Start: 0, End: 1}, {Start: 2, End: c.hours * hour}})
		if len(got.hours) != c.want {
			t.Errorf("two intervals in %v h have a calendar of %d, want %d", c.hours, len(got.hours), c.want)
		}
	}
	many := make([]Interval, 2000)
	for i := range many {
		many[i] = Interval{Start: float64(i) * 600 * hour, End: float64(i)*600*hour + 1}
	}
	if got := newCalendar(many); got.hours != nil || got.after(many, 1e15) != 2000 || got.after(many, 0) != 0 {
		t.Errorf("%d hours", len(got.hours))
	}
	if got := newCalendar(nil); got.after(nil, 7) != 0 {
		t.Error("nothing ends after 7")
	}
}

// TestSpans checks the recorded span of a fleet, ignoring hosts without records, and the state
// of a host at a given time.
func TestSpans(t *testing.T) {
	t.Parallel()
	host := func(records ...Record) *History {
		h, err := NewHistory("h", 1, records, 0)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	none := host()
	one := host(Record{100, 200, Available, 0.5}, Record{200, 300, Busy, 0.9})
	two := host(Record{-50, 250, Available, 0})
	for _, c := range []struct {
		hosts      []*History
		start, end float64
	}{{nil, 0, 0}, {[]*History{none}, 0, 0}, {[]*History{one}, 100, 300}, {[]*History{none, two, one}, -50, 300}, {[]*History{one, two}, -50, 300}} {
		if start, end := (&Trace{c.hosts}).Span(); start != c.start || end != c.end {
			t.Errorf("from %v to %v, want %v to %v", start, end, c.start, c.end)
		}
	}
	for at, want := range map[float64][2]float64{99: {0, 100}, 100: {0.5, 200}, 199: {0.5, 200}, 200: {0, 300}, 300: {0, math.Inf(1)}} {
		if load, until := one.Load(at); load != want[0] || until != want[1] {
			t.Errorf("load at %v: %v until %v, want %v", at, load, until, want)
		}
	}
	if one.State(99) != Unknown || one.State(250) != Busy || one.State(300) != Unknown {
		t.Errorf("at 99, 250 and 300: %v, %v, %v", one.State(99), one.State(250), one.State(300))
	}
}

// TestCalendarRounds checks a time that rounding assigns to the next hour, although it lies in
// an interval that ends at that hour.
func TestCalendarRounds(t *testing.T) {
	t.Parallel()
	intervals := []Interval{{Start: -3110, End: -3000}, {Start: 4000, End: 4090}, {Start: 5000, End: 20_000}}
	c := newCalendar(intervals)
	at := math.Nextafter(4090, 0)
	if (at-c.origin)/hour != 2 {
		t.Fatalf("%v is %v hours after %v, want 2 by rounding", at, (at-c.origin)/hour, c.origin)
	}
	for at, want := range map[float64]int{at: 1, 4090: 2} {
		if got := c.after(intervals, at); got != want {
			t.Errorf("after %v: %d, want %d", at, got, want)
		}
	}
}
