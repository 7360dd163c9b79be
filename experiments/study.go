package experiments

import (
	"bourse/experiments/metrics"
	"bourse/experiments/scenario"
	"bourse/experiments/stats"
)

// A Study collects the metrics of an experiment, replication by replication.
type Study struct {
	Experiment *scenario.Experiment // expanded
	Metrics    []metrics.Metric
	cells      [][]cell // by configuration and policy
	unproven   []int    // by configuration: replications whose U* is a bound only
}

// A cell is one configuration under one policy.
type cell struct {
	values [][]value // by metric and replication
	curve  [][]value // by alpha and replication
}

// A value is a number, or none where the metric is undefined.
type value struct {
	x  float64
	ok bool
}

// NewStudy returns a study of e without replications.
func NewStudy(e *scenario.Experiment) *Study {
	x := e.Expanded()
	e = &x
	s := &Study{Experiment: e, Metrics: metrics.All(), unproven: make([]int, len(e.Configurations))}
	for _, c := range e.Configurations {
		cells := make([]cell, len(c.Admission))
		for i := range cells {
			cells[i] = cell{make([][]value, len(s.Metrics)), make([][]value, len(e.Alphas))}
		}
		s.cells = append(s.cells, cells)
	}
	return s
}

// Add measures r, which must be the next replication of its configuration.
func (s *Study) Add(r *Replication) {
	if !r.Optimum.Proven {
		s.unproven[r.Configuration]++
	}
	for k, run := range r.Runs {
		c := &s.cells[r.Configuration][k]
		for m := range s.Metrics {
			x, ok := s.Metrics[m].Of(&run.Outcome)
			c.values[m] = append(c.values[m], value{x, ok})
		}
		for a, alpha := range s.Experiment.Alphas {
			x, ok := metrics.Efficiency(&run.Outcome, alpha)
			c.curve[a] = append(c.curve[a], value{x, ok})
		}
	}
}

// Value returns metric m of a replication, and whether it is defined there.
func (s *Study) Value(configuration, policy, m, rep int) (float64, bool) {
	v := s.cells[configuration][policy].values[m][rep]
	return v.x, v.ok
}

// Summary describes metric m over the replications in which it is defined.
func (s *Study) Summary(configuration, policy, m int) stats.Summary {
	return summarize(s.cells[configuration][policy].values[m]).Within(s.Metrics[m].Bound.Ends())
}

// Efficiency describes the efficiency at the scenario's alpha number a.
func (s *Study) Efficiency(configuration, policy, a int) stats.Summary {
	return summarize(s.cells[configuration][policy].curve[a])
}

func summarize(vs []value) stats.Summary {
	var xs []float64
	for _, v := range vs {
		if v.ok {
			xs = append(xs, v.x)
		}
	}
	return stats.Summarize(xs)
}

// Unproven returns in how many replications of a configuration efficiency is
// against an upper bound of U*, which could not be proven to be reached.
func (s *Study) Unproven(configuration int) int { return s.unproven[configuration] }
