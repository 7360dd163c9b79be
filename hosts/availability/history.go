package availability

import (
	"fmt"
	"math"
	"sort"
)

// A Record is a period of time in one state.
type Record struct {
	Start, End float64 // half-open: Start < End
	State      State   // not Unknown
	Load       float64 // share of the CPU that the owner uses, in [0,1]; valid only in state Available
}

// An Interval is a maximal period of time in which work can run.
type Interval struct {
	Start, End float64 // half-open: Start < End
	Exit       State   // state after the interval; Unknown if there is no record
}

// Gap is the length, in seconds, below which an unavailable period between two available ones
// is treated as a measurement error (§5).
const Gap = 120.0

// A History contains the records of one host. It is immutable, so any number of readers may
// share it.
type History struct {
	Name string
	MIPS float64 // speed score, above 0; 1 if unknown

	start, end float64 // start of the first record and end of the last
	records    []Record
	intervals  []Interval
	totals     []Totals // totals[i] sums the intervals before interval i
	ends       calendar // calendar of the intervals' ends
}

// Totals are sums over the first intervals of a history.
type Totals struct {
	Time      float64 // sum of lengths
	Log, Log2 float64 // sums of the logarithms of lengths and of their squares
	Exits     [States]int32
}

// NewHistory creates a history from records sorted by start, and retains records. Unavailable
// periods shorter than gap, with available time directly before and after them, count as
// available at load 0. The paper uses [Gap]; 0 keeps all such periods.
func NewHistory(name string, mips float64, records []Record, gap float64) (*History, error) {
	if !(mips > 0) || math.IsInf(mips, 1) {
		return nil, fmt.Errorf("host %q: mips is %v, want more than 0", name, mips)
	}
	for i, r := range records {
		switch {
		case !(r.Start < r.End) || math.IsInf(r.Start, -1) || math.IsInf(r.End, 1):
			return nil, fmt.Errorf("host %q: record %d lasts from %v to %v, want an end after a start", name, i+1, r.Start, r.End)
		case i > 0 && r.Start < records[i-1].End:
			return nil, fmt.Errorf("host %q: record %d starts at %v, before the end of the previous one, %v", name, i+1, r.Start, records[i-1].End)
		case r.State == Unknown || r.State >= States:
			return nil, fmt.Errorf("host %q: record %d has %v", name, i+1, r.State)
		case !(r.Load >= 0 && r.Load <= 1):
			return nil, fmt.Errorf("host %q: record %d has load %v, want one in [0,1]", name, i+1, r.Load)
		}
	}
	h := &History{Name: name, MIPS: mips, records: records, intervals: coalesce(records, gap)}
	if n := len(records); n > 0 {
		h.start, h.end = records[0].Start, records[n-1].End
	}
	h.totals = make([]Totals, len(h.intervals)+1)
	for i, v := range h.intervals {
		t := h.totals[i]
		log := math.Log(v.End - v.Start)
		t.Time += v.End - v.Start
		t.Log += log
		t.Log2 += log * log
		t.Exits[v.Exit]++
		h.totals[i+1] = t
	}
	h.ends = newCalendar(h.intervals)
	return h, nil
}

// coalesce merges adjacent available records, and those separated only by a short gap.
func coalesce(records []Record, gap float64) []Interval {
	var out []Interval
	for i := 0; i < len(records); {
		r := records[i]
		i++
		if r.State != Available {
			continue
		}
		v := Interval{Start: r.Start, End: r.End}
		for i < len(records) && records[i].Start == v.End {
			j, end := i, v.End // end of the unavailable period
			for j < len(records) && records[j].State != Available && records[j].Start == end {
				end = records[j].End
				j++
			}
			back := j < len(records) && records[j].Start == end
			if !back || j > i && end-v.End >= gap {
				v.Exit = records[i].State
				break
			}
			v.End = records[j].End
			i = j + 1
		}
		out = append(out, v)
	}
	return out
}

// Records returns the records, sorted by start. The caller must not change them.
func (h *History) Records() []Record { return h.records }

// Intervals returns the intervals, sorted by start. The caller must not change them.
func (h *History) Intervals() []Interval { return h.intervals }

// Span returns the start of the first record and the end of the last; 0, 0 without records.
func (h *History) Span() (start, end float64) { return h.start, h.end }

// After returns the index of the first interval that ends after t, or the number of intervals
// if there is none.
func (h *History) After(t float64) int { return h.ends.after(h.intervals, t) }

// Totals returns the sums over the first n intervals.
func (h *History) Totals(n int) *Totals { return &h.totals[n] }

// At returns the interval that contains t, and false if the host is unavailable at t.
func (h *History) At(t float64) (Interval, bool) {
	if i := h.After(t); i < len(h.intervals) && h.intervals[i].Start <= t {
		return h.intervals[i], true
	}
	return Interval{}, false
}

// State returns the recorded state at t, including dropped gaps.
func (h *History) State(t float64) State {
	if i := h.record(t); i < len(h.records) && h.records[i].Start <= t {
		return h.records[i].State
	}
	return Unknown
}

// Load returns the owner's share of the CPU at t, in [0,1], and the time until which it is
// constant. The load is 0 if the host is not recorded as available, and in dropped gaps.
func (h *History) Load(t float64) (load, until float64) {
	i := h.record(t)
	switch {
	case i == len(h.records):
		return 0, math.Inf(1)
	case t < h.records[i].Start:
		return 0, h.records[i].Start
	case h.records[i].State == Available:
		load = h.records[i].Load
	}
	return load, h.records[i].End
}

// record returns the index of the first record that ends after t.
func (h *History) record(t float64) int {
	return sort.Search(len(h.records), func(i int) bool { return h.records[i].End > t })
}

// Available returns how long the host was available in [from, to).
func (h *History) Available(from, to float64) float64 { return h.before(to) - h.before(from) }

// before returns how long the host was available before t.
func (h *History) before(t float64) float64 {
	i := h.After(t)
	sum := h.totals[i].Time
	if i < len(h.intervals) && h.intervals[i].Start < t {
		sum += t - h.intervals[i].Start
	}
	return sum
}
