package predictors

import (
	"math"

	"bourse/hosts/availability"
)

// A Limiter is a judge that can tell for a while which jobs are too long for a
// host, without looking at its history again.
type Limiter interface {
	Judge

	// Limit returns a limit that holds from now on. What it excludes, AtLeast
	// refuses for the same least.
	Limit(p *Past, now, least float64) Limit
}

// A Limit says which jobs a host is certainly not reliable enough for. It is a
// bound, not a forecast: what it does not exclude may be refused all the same.
type Limit struct {
	Until float64 // it holds at instants before
	end   float64 // of the longest window
	plen  float64
}

// Excludes reports whether a job of that length is too long at now. It decides
// on whole seconds alone, and where the window is at most a day: others it leaves
// to the forecast.
func (l *Limit) Excludes(now, length float64) bool {
	window := l.plen * length
	return now+window > l.end && window <= availability.Day && now == math.Floor(now) && length == math.Floor(length)
}

// Widen makes l exclude no more than m does. The zero Limit excludes all.
func (l *Limit) Widen(m *Limit) {
	if l.plen == 0 {
		l.end = m.end
	}
	l.end, l.plen = max(l.end, m.end), m.plen
}

// maxLimited bounds the days that a limit is computed of.
const maxLimited = 32

var never = math.Inf(1)

// Limit implements [Limiter]. As the windows of the past days grow with the job,
// exits come to be in them one after another, and a day with x exits is worth at
// most
//
//	(q + u + x)/(q + u + 2x)
//
// where q jobs fit into a whole window, and u unknown exits, which do not count
// as such, are in the longest: rounded up, the at most u+x+1 stretches in the window
// hold no more than q + u + x. Rounded down, or not at all, they hold q. The limit
// is the first exit with which the mean of these is below least. It moves with
// the exits, as now does, until the first of them leaves its window.
func (p *TDE) Limit(past *Past, now, least float64) Limit {
	l := Limit{Until: math.Inf(1), end: math.Inf(1), plen: p.plen}
	if p.pooled || p.days > maxLimited || p.plen != math.Floor(p.plen) || p.rounding == up && least <= 0.5 {
		return l
	}
	var days [maxLimited]struct {
		next  int     // interval that ends next
		at    float64 // when it does, as if today
		fits  float64 // most that fits, less exits
		exits float64 // so far
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
		day.worth, day.at = 1, math.Inf(1) // not to be bounded: counts as reliable
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
	enough := least*float64(p.days) - 1e-9 // forecasts are rounded, too
	for {
		first := 0
		for d := 1; d < p.days; d++ {
			if days[d].at < days[first].at {
				first = d
			}
		}
		day := &days[first]
		if day.at-now >= availability.Day {
			return l // no such window is excluded
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
