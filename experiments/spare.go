package experiments

import "slices"

// spare keeps the memory of runs that nobody looks at any more.
type spare struct{ runs []*Run }

// take returns an empty run with room for that many jobs.
func (s *spare) take(jobs int) *Run {
	r := new(Run)
	if last := len(s.runs) - 1; last >= 0 {
		r, s.runs = s.runs[last], s.runs[:last]
	}
	*r = Run{Jobs: slices.Grow(r.Jobs[:0], jobs), Prices: r.Prices[:0]}
	return r
}

// give takes the memory of r, which is not used afterwards.
func (s *spare) give(r *Run) { s.runs = append(s.runs, r) }
