package predictors

import (
	"math"

	"bourse/hosts/availability"
)

// A window is the same time of day on a past day.
type window struct{ from, to float64 }

// window returns the window d days before now.
func (p *TDE) window(now, length float64, d int) window {
	from := now - float64(d)*availability.Day
	return window{from, min(from+p.plen*length, now)}
}

// rule returns the rule for w: counted, or the rule for missing days.
func (p *TDE) rule(w window, h *availability.History) rule {
	if start, end := h.Span(); w.to <= start || w.from >= end || start == end { // a host without records has no days
		return p.missing
	}
	return counted
}

// count returns the number of times that the job fits into the available periods of w, and the
// number of known exits in w. Both are 0 if there is no such period. First is the index of the
// first interval of h that ends after the start of w.
func (p *TDE) count(h *availability.History, w window, length float64, first int) (fits, exits float64) {
	unit := p.unit * length
	intervals := h.Intervals()
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
	return fits, exits
}

// exits counts the exits in w by state. Evictions count as Unavailable.
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
