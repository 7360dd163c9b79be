package experiments

import (
	"slices"
	"sync"

	"bourse/bank"
	"bourse/contracts"
	"bourse/experiments/metrics"
)

// A Record is what metrics do not look at of one job.
type Record struct {
	ID, User int64
	Runtime  float64 // s
	Nodes    int
	Asked    float64 // work, over all nodes, as its user estimates it
	Cancel   float64 // seconds after arrival at which its owner takes it back, 0 for never
	Decision contracts.Verdict
	Reason   contracts.Reason
	Names    bool         // the reason is about a contract:
	About    contracts.ID // this one
	Value    bank.Amount
	Paid     bank.Amount
	Penalty  bank.Amount
}

// because notes why it was so decided.
func (r *Record) because(d *contracts.Decision) {
	r.Reason = d.Reason
	r.About, r.Names = d.Numbers.Contract()
}

// A Run is one configuration under one policy in one replication.
type Run struct {
	Jobs    []metrics.Job // in order of arrival
	Records []Record      // of the same jobs
	Prices  []float64     // mean host price over each 5 minutes, $/s
	End     float64       // instant of the last end, 0 if nothing was admitted
	Booked  bool          // the policy keeps books
	Cancels bool          // owners take jobs back
	Pauses  []metrics.Pause
	Closed  bool // the horizon came before all was done
	Outcome metrics.Outcome
}

// spare keeps the memory of runs that nobody looks at any more. Many goroutines may
// use it.
type spare struct{ runs sync.Pool }

// take returns an empty run with room for that many jobs.
func (s *spare) take(jobs int) *Run {
	r, _ := s.runs.Get().(*Run)
	if r == nil {
		r = new(Run)
	}
	*r = Run{Jobs: slices.Grow(r.Jobs[:0], jobs), Records: slices.Grow(r.Records[:0], jobs), Prices: r.Prices[:0]}
	return r
}

// give takes the memory of r, which is not used afterwards.
func (s *spare) give(r *Run) { s.runs.Put(r) }
