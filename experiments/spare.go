package experiments

import (
	"slices"
	"sync"
)

// spare keeps the memory of runs that nobody looks at any more. Many goroutines may
// use it.
type spare struct{ runs sync.Pool }

// take returns an empty run with room for that many jobs.
func (s *spare) take(jobs int) *Run {
	r, _ := s.runs.Get().(*Run)
	if r == nil {
		r = new(Run)
	}
	*r = Run{Jobs: slices.Grow(r.Jobs[:0], jobs), Prices: r.Prices[:0]}
	return r
}

// give takes the memory of r, which is not used afterwards.
func (s *spare) give(r *Run) { s.runs.Put(r) }
