package predictors

import (
	"math"

	"bourse/hosts/availability"
)

// A Limiter is a judge that can determine, for some time ahead, which jobs are too long for a
// host without reading its history again.
type Limiter interface {
	Judge

	// Limit returns a limit that is valid from now on. AtLeast with the same least refuses
	// every job that the limit excludes.
	Limit(p *Past, now, least float64) Limit
}

// A Limit describes jobs for which a host is certainly not reliable enough. It is a bound, not
// a forecast: AtLeast may also refuse jobs that a Limit does not exclude.
type Limit struct {
	Until float64 // end of validity, exclusive
	end   float64 // length of the longest window
	plen  float64
}

// Excludes reports whether a job of the given length is too long at now. It only excludes
// whole-second lengths whose window is at most one day. All other lengths require a forecast.
func (l *Limit) Excludes(now, length float64) bool {
	window := l.plen * length
	return now+window > l.end && window <= availability.Day && now == math.Floor(now) && length == math.Floor(length)
}

// Widen reduces l to jobs that m excludes too. The zero Limit excludes all jobs.
func (l *Limit) Widen(m *Limit) {
	if l.plen == 0 {
		l.end = m.end
	}
	l.end, l.plen = max(l.end, m.end), m.plen
}

// maxLimited is the maximum number of days for which a limit is computed.
const maxLimited = 32

var never = math.Inf(1)

// Limit implements [Limiter]. The windows of the past days grow with the job, so they contain
// more and more exits. A day with x exits contributes at most
//
//	(q + u + x)/(q + u + 2x)
//
// Here q is the number of jobs that fit into a whole window. The number of unknown exits in the
// longest window is u; they do not count as exits. With rounding up, the at most u+x+1
// available periods in the window hold at most q + u + x jobs. With rounding down or no
// rounding, they hold q. The limit is the first exit at which the mean of these bounds is below
// least. It is valid until the first of the counted exits leaves its window.
func (p *TDE) Limit(past *Past, now, least float64) Limit {
	l := Limit{Until: math.Inf(1), end: math.Inf(1), plen: p.plen}
	if p.pooled || p.days > maxLimited || p.plen != math.Floor(p.plen) || p.rounding == up && least <= 0.5 {
		return l
	}
	var days [maxLimited]struct {
		next  int     // index of the interval that ends next
		at    float64 // end of that interval, moved to today
		fits  float64 // maximum number of jobs that fit, minus exits
		exits float64 // number of exits so far
		worth float64
	}
	q := p.plen / p.unit
	h := past.History
	past.see(now, p.days)
	start, _ := h.Span()
	intervals := h.Intervals()
	sum := 0.0
	for d := range p.days {
		day := &days[d]
		day.worth, day.at = 1, math.Inf(1) // no bound is known, so the day counts as reliable
		sum++
		shift := float64(d+1) * availability.Day
		switch from := now - shift; {
		case from < start:
			l.Until = min(l.Until, start+shift)
		default:
			if day.next = int(past.after(d+1, from).index); day.next < len(intervals) {
				day.at = intervals[day.next].End + shift
				l.Until = min(l.Until, day.at)
			}
		}
	}
	for d := range p.days {
		day := &days[d]
		day.fits = q
		if p.rounding == up && !math.IsInf(day.at, 1) { // until the last window ends
			after := h.Totals(h.After(l.Until - float64(d)*availability.Day))
			day.fits += float64(after.Exits[availability.Unknown] - h.Totals(day.next).Exits[availability.Unknown])
		}
	}
	enough := least*float64(p.days) - 1e-9 // tolerance, because forecasts are rounded too
	for {
		first := 0
		for d := 1; d < p.days; d++ {
			if days[d].at < days[first].at {
				first = d
			}
		}
		day := &days[first]
		if day.at-now >= availability.Day {
			return l // Excludes ignores such windows
		}
		sum -= day.worth
		if intervals[day.next].Exit != availability.Unknown {
			day.exits++
		}
		day.worth = day.fits / (day.fits + day.exits)
		if p.rounding == up {
			day.worth = (day.fits + day.exits) / (day.fits + 2*day.exits)
		}
		if sum += day.worth; sum < enough {
			l.end = day.at
			return l
		}
		shift := day.at - intervals[day.next].End
		day.at = math.Inf(1)
		if day.next++; day.next < len(intervals) {
			day.at = intervals[day.next].End + shift
		}
	}
}
