package predictors

import (
	"math"

	"bourse/hosts/availability"
)

// A window is the same time of day on a past day.
type window struct{ from, to float64 }

// window returns the window of d days ago, and how it counts: by its history,
// or by rule.
func (p *TDE) window(now, length float64, d int, start, end float64) (w window, r rule) {
	w.from = now - float64(d)*availability.Day
	w.to = min(w.from+p.plen*length, now)
	if w.to <= start || w.from >= end || start == end { // who has no records has no days
		return w, p.missing
	}
	return w, counted
}

// count returns how often the job fits into the available stretches of w, and how
// many known exits are in it. Both are 0 where there is no such stretch. The first of its
// intervals is for exits.
func (p *TDE) count(h *availability.History, w window, length float64) (fits, exits float64, first int) {
	unit := p.unit * length
	intervals := h.Intervals()
	first = h.After(w.from)
	for i := first; i < len(intervals) && intervals[i].Start < w.to; i++ {
		v := &intervals[i]
		f := (min(v.End, w.to) - max(v.Start, w.from)) / unit
		switch p.rounding {
		case up:
			f = math.Ceil(f)
		case down:
			f = math.Floor(f)
		}
		fits += f
		if v.End < w.to && v.Exit != availability.Unknown {
			exits++
		}
	}
	return fits, exits, first
}

// exits counts the exits in w by state, evictions as Unavailable.
func (w window) exits(intervals []availability.Interval) (f Forecast) {
	for i := 0; i < len(intervals) && intervals[i].End < w.to; i++ {
		switch intervals[i].Exit {
		case availability.UserPresent:
			f.UserPresent++
		case availability.Busy:
			f.Busy++
		case availability.Evicted, availability.Unavailable:
			f.Unavailable++
		}
	}
	return f
}
