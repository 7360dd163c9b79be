package experiments

import "slices"

// A spare contains the memory of runs that are no longer used.
type spare struct{ runs []*Run }

// take returns an empty run with space for the given number of jobs.
func (s *spare) take(jobs int) *Run {
	r := new(Run)
	if last := len(s.runs) - 1; last >= 0 {
		r, s.runs = s.runs[last], s.runs[:last]
	}
	*r = Run{Jobs: slices.Grow(r.Jobs[:0], jobs), Prices: r.Prices[:0]}
	return r
}

// give adds the memory of r to the spare memory. The caller must not use r afterwards.
func (s *spare) give(r *Run) { s.runs = append(s.runs, r) }
