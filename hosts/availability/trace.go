package availability

import "math"

// A Trace contains the histories of a fleet.
type Trace struct {
	Hosts []*History // in the order of the file or the generator
}

// Span returns the earliest start and the latest end of all records; 0, 0 without records.
func (t *Trace) Span() (start, end float64) {
	start, end = math.Inf(1), math.Inf(-1)
	for _, h := range t.Hosts {
		if len(h.records) > 0 {
			s, e := h.Span()
			start, end = min(start, s), max(end, e)
		}
	}
	if start > end {
		return 0, 0
	}
	return start, end
}
