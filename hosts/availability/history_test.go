package availability

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawRecords draws the records of a host over some days: adjacent or not,
// around the gap of two minutes.
func drawRecords(t *rapid.T) []Record {
	var records []Record
	at := float64(rapid.IntRange(-90_000, 90_000).Draw(t, "start"))
	for range rapid.IntRange(0, 60).Draw(t, "records") {
		if rapid.IntRange(0, 9).Draw(t, "hole") == 0 {
			at += float64(rapid.IntRange(1, 200).Draw(t, "hole length"))
		}
		length := rapid.OneOf(rapid.IntRange(1, 130), rapid.IntRange(119, 121), rapid.IntRange(1, 20_000)).Draw(t, "length")
		state := Available
		if rapid.Bool().Draw(t, "away") {
			state = State(rapid.IntRange(2, 5).Draw(t, "state"))
		}
		records = append(records, Record{at, at + float64(length), state, 0.25})
		at += float64(length)
	}
	return records
}

// TestCoalesce checks the gap rule second by second: a second is available if a record says so,
// or if it lies in a run of recorded unavailable seconds, fewer than the gap, between two
// available ones; intervals are the longest runs of available seconds, and their exit is the
// state recorded next.
func TestCoalesce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		records := drawRecords(t)
		gap := rapid.SampledFrom([]float64{Gap, 0}).Draw(t, "gap") // 0 drops none
		h, err := NewHistory("h", 1, records, gap)
		if err != nil {
			t.Fatal(err)
		}
		from, to := h.Span()
		states := make([]State, int(to-from)+2) // an unknown second at each end
		for _, r := range records {
			for s := r.Start; s < r.End; s++ {
				states[int(s-from)+1] = r.State
			}
		}
		open := make([]bool, len(states))
		for i := range states {
			open[i] = states[i] == Available
		}
		for i := 1; i < len(states); i++ {
			if states[i-1] != Available || states[i] == Available {
				continue
			}
			j := i
			for j < len(states) && states[j] != Available && states[j] != Unknown {
				j++
			}
			if j < len(states) && states[j] == Available && j-i < int(gap) {
				for k := i; k < j; k++ {
					open[k] = true
				}
			}
		}
		var want []Interval
		for i := 1; i < len(open); i++ {
			if !open[i-1] && open[i] {
				want = append(want, Interval{Start: from + float64(i-1)})
			}
			if open[i-1] && !open[i] {
				v := &want[len(want)-1]
				v.End, v.Exit = from+float64(i-1), states[i]
			}
		}
		got := h.Intervals()
		if len(got) != len(want) {
			t.Fatalf("%d intervals %v, want %v", len(got), got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("interval %d is %v, want %v", i, got[i], want[i])
			}
		}

		// The results of all queries agree with the seconds.
		probe := float64(rapid.IntRange(int(from)-10, int(to)+10).Draw(t, "probe"))
		second := int(probe-from) + 1
		inside := probe >= from && probe < to
		_, available := h.At(probe)
		if want := inside && open[second]; available != want {
			t.Fatalf("available at %v: %v, want %v", probe, available, want)
		}
		state := Unknown
		if inside {
			state = states[second]
		}
		if h.State(probe) != state {
			t.Fatalf("state at %v is %v, want %v", probe, h.State(probe), state)
		}
		since := float64(rapid.IntRange(int(from)-10, int(probe)).Draw(t, "since"))
		sum := 0.0
		for i := 1; i < len(open) && from+float64(i-1) < probe; i++ {
			if open[i] && from+float64(i-1) >= since {
				sum++
			}
		}
		if got := h.Available(since, probe); got != sum {
			t.Fatalf("available for %v s from %v to %v, want %v", got, since, probe, sum)
		}

		var totals Totals
		for i, v := range want {
			log := math.Log(v.End - v.Start)
			totals.Time += v.End - v.Start
			totals.Log += log
			totals.Log2 += log * log
			totals.Exits[v.Exit]++
			if *h.Totals(i + 1) != totals {
				t.Fatalf("totals of the first %d are %v, want %v", i+1, *h.Totals(i + 1), totals)
			}
		}
	})
}

// TestAfter checks the calendar against a linear scan, at fractions of seconds
// and at the very ends.
func TestAfter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h, err := NewHistory("h", 1, drawRecords(t), Gap)
		if err != nil {
			t.Fatal(err)
		}
		probe := rapid.Float64Range(-1e6, 2e6).Draw(t, "probe")
		if n := len(h.Intervals()); n > 0 && rapid.Bool().Draw(t, "at an end") {
			probe = h.Intervals()[rapid.IntRange(0, n-1).Draw(t, "which")].End
		}
		want := 0
		for want < len(h.Intervals()) && h.Intervals()[want].End <= probe {
			want++
		}
		if got := h.After(probe); got != want {
			t.Fatalf("After(%v) = %d, want %d", probe, got, want)
		}
	})
}

// TestNewHistoryRefuses checks that invalid records are errors that name the record.
func TestNewHistoryRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mips    float64
		records []Record
		want    string
	}{
		{0, nil, "mips is 0, want more than 0"},
		{math.Inf(1), nil, "mips is +Inf"},
		{1, []Record{{5, 5, Available, 0}}, "record 1 lasts from 5 to 5"},
		{1, []Record{{math.Inf(-1), 5, Available, 0}}, "record 1 lasts from -Inf to 5"},
		{1, []Record{{0, 5, Available, 0}, {5, math.Inf(1), Busy, 0}}, "record 2 lasts from 5 to +Inf"},
		{1, []Record{{0, 10, Available, 0}, {9, 20, Busy, 0}}, "record 2 starts at 9, before the end of the previous one, 10"},
		{1, []Record{{10, 20, Available, 0}, {0, 5, Busy, 0}}, "record 2 starts at 0, before the end of the previous one, 20"},
		{1, []Record{{0, 10, Unknown, 0}}, "record 1 has ?"},
		{1, []Record{{0, 10, States, 0}}, "record 1 has state 6"},
		{1, []Record{{0, 10, Available, 1.5}}, "record 1 has load 1.5"},
	} {
		if _, err := NewHistory("h", c.mips, c.records, Gap); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("mips %v, %v: error %v, want %q", c.mips, c.records, err, c.want)
		}
	}
}
