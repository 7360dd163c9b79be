package experiments

import (
	"math"
	"slices"

	"bourse/experiments/metrics"
	"bourse/experiments/papers"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/experiments/stats"
)

// A Study contains the metrics of an experiment for each replication.
type Study struct {
	Experiment *scenario.Experiment // expanded
	Metrics    []metrics.Metric
	Cells      [][]Cell     // by configuration and policy
	bounds     [][kinds]int // number of replications, by configuration and kind of U*
	Alike      []string     // configurations whose replications all have the same jobs and hosts

	paper  *papers.Reference // the paper's reference values, computed on first use
	summed []results.Summary // rows of the results, computed on first use
	curved []results.Point

	critical stats.Critical
}

// A Cell contains the values of one configuration under one policy, by replication. NaN means
// undefined.
type Cell struct {
	Values [][]float64 // by metric
	trials [][]float64 // trials by metric; empty if the metric does not count trials
	curve  [][]float64 // by alpha

	Unpaid    float64 // penalties owed but not paid, over all replications, in dollars
	Creditors int     // users to whom these penalties were owed, counted in each replication

	Jobs metrics.Counts // over all replications
}

// trial returns the number of trials on which metric m is based in a replication, or 0 if the
// metric does not count trials.
func (c *Cell) trial(m, rep int) float64 {
	if len(c.trials[m]) == 0 {
		return 0
	}
	return c.trials[m][rep]
}

// NewStudy returns a study of e without replications.
func NewStudy(e *scenario.Experiment) *Study {
	x := e.Expanded()
	e = &x
	s := &Study{Experiment: e, Metrics: metrics.With(Named(e)...), critical: make(stats.Critical), bounds: make([][kinds]int, len(e.Configurations))}
	if bargains(e) {
		s.Metrics = metrics.Bargained(s.Metrics)
	}
	for _, c := range e.Configurations {
		cells := make([]Cell, len(c.Admission))
		for i := range cells {
			cells[i] = Cell{Values: make([][]float64, len(s.Metrics)), trials: make([][]float64, len(s.Metrics)), curve: make([][]float64, len(e.Alphas))}
		}
		s.Cells = append(s.Cells, cells)
	}
	return s
}

// bargains reports whether users of e may accept offers.
func bargains(e *scenario.Experiment) bool {
	return slices.ContainsFunc(e.Configurations, func(c scenario.Configuration) bool {
		return slices.ContainsFunc(c.Admission, func(a scenario.Choice) bool { return a.Negotiate != "" })
	})
}

// Named returns the metrics that e names. If users may receive offers, the result includes the
// metrics of offers. It also includes the utilization of the resources that have a price.
func Named(e *scenario.Experiment) (names []string) {
	if e.Figure != nil {
		names = append(names, e.Figure.Metrics...)
	}
	if e.Until != nil {
		names = append(names, e.Until.Metric)
	}
	if bargains(e) {
		names = append(names, metrics.Negotiated()...)
	}
	for i := range e.Configurations {
		for _, resource := range e.Configurations[i].Market.Resources {
			names = append(names, metrics.HeldName(resource))
		}
	}
	return names
}

// Beside returns the paper's values, which are printed next to the results.
func (s *Study) Beside() *papers.Reference {
	if s.paper == nil {
		s.paper = new(papers.Beside(s.Experiment))
	}
	return s.paper
}

// besides is the number of values that Measure appends after the efficiencies. They describe
// penalties and jobs.
const besides = 7

// Measure appends to found all values of a run that s stores. These are every metric, the
// number of trials of each metric that counts trials, the efficiency at every alpha, and the
// counts of penalties and jobs. Undefined values are NaN.
func (s *Study) Measure(run *Run, found []float64) []float64 {
	number := func(x float64, ok bool) {
		if !ok {
			x = math.NaN()
		}
		found = append(found, x)
	}
	for m := range s.Metrics {
		number(s.Metrics[m].Of(&run.Outcome))
	}
	for m := range s.Metrics {
		if trials := s.Metrics[m].Trials; trials != nil {
			found = append(found, float64(trials(&run.Outcome)))
		}
	}
	found = append(found, metrics.Efficiency(&run.Outcome, s.Experiment.Alphas...)...)
	unpaid, users := run.Outcome.UnpaidPenalties()
	n := run.Outcome.Counts()
	return append(found, unpaid, float64(users), float64(n.Asked), float64(n.TooLate), float64(n.Started), float64(n.Completed), float64(n.Open))
}

// Width returns the number of values that Measure appends.
func (s *Study) Width() int {
	return len(s.Metrics) + s.ofTrials() + len(s.Experiment.Alphas) + besides
}

// ofTrials returns the number of metrics that count trials.
func (s *Study) ofTrials() (n int) {
	for m := range s.Metrics {
		if s.Metrics[m].Trials != nil {
			n++
		}
	}
	return n
}

// Add adds the measured values of the next replications of a configuration. For each
// replication, found contains first the kind of its U*. The values under each policy follow.
func (s *Study) Add(configuration int, found []float64) {
	s.summed, s.curved = nil, nil
	cells := s.Cells[configuration]
	for width := s.Width(); len(found) > 0; {
		s.bounds[configuration][kind(found[0])]++
		found = found[1:]
		for k := range cells {
			c := &cells[k]
			at := len(c.Values)
			for m := range c.Values {
				c.Values[m] = append(c.Values[m], found[m])
				if s.Metrics[m].Trials != nil {
					c.trials[m] = append(c.trials[m], found[at])
					at++
				}
			}
			for a := range c.curve {
				c.curve[a] = append(c.curve[a], found[at+a])
			}
			rest := found[width-besides : width]
			c.Unpaid += rest[0]
			for i, n := range []*int{&c.Creditors, &c.Jobs.Asked, &c.Jobs.TooLate, &c.Jobs.Started, &c.Jobs.Completed, &c.Jobs.Open} {
				*n += int(rest[1+i])
			}
			found = found[width:]
		}
	}
}

// summary summarizes metric m over the replications in which it is defined.
func (s *Study) summary(configuration, policy, m int) stats.Summary {
	c := &s.Cells[configuration][policy]
	var q stats.Quantity
	q.Lo, q.Hi = s.Metrics[m].Bound.Ends()
	for rep, trials := range c.trials[m] {
		if math.IsNaN(c.Values[m][rep]) {
			continue
		}
		if q.Trials += int(trials); trials == 0 {
			q.Trials = 0 // constant by construction
			break
		}
	}
	return s.critical.Summarize(defined(c.Values[m]), q)
}

// efficiency summarizes the efficiency at the scenario's a-th alpha.
func (s *Study) efficiency(configuration, policy, a int) stats.Summary {
	return s.critical.Summarize(defined(s.Cells[configuration][policy].curve[a]), stats.Quantity{})
}

// defined returns the values in all that are not NaN.
func defined(all []float64) (xs []float64) {
	for _, x := range all {
		if !math.IsNaN(x) {
			xs = append(xs, x)
		}
	}
	return xs
}

// Watched returns the index of the metric of the stopping rule and the bounds of its values.
// The index is -1 if there is no such metric.
func (s *Study) Watched() (m int, lo, hi float64) {
	of := metrics.Unbounded
	m = slices.IndexFunc(s.Metrics, func(m metrics.Metric) bool { return m.Name == s.Experiment.Until.Metric })
	if m >= 0 {
		of = s.Metrics[m].Bound
	}
	lo, hi = of.Ends()
	return m, lo, hi
}

// Anytime returns the confidence sequence of the metric of the stopping rule for one cell.
func (s *Study) Anytime(configuration, policy int) (lo, hi float64, ok bool) {
	m, lo, hi := s.Watched()
	if m < 0 {
		return 0, 0, false
	}
	return stats.Anytime(defined(s.Cells[configuration][policy].Values[m]), lo, hi, 0.05)
}
