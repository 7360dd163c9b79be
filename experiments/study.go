package experiments

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"bourse/experiments/contrast"
	"bourse/experiments/metrics"
	"bourse/experiments/papers"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/experiments/stats"
)

// A Study holds the metrics of an experiment, by replication.
type Study struct {
	Experiment *scenario.Experiment // expanded
	Metrics    []metrics.Metric
	cells      [][]cell     // by configuration and policy
	bounds     [][kinds]int // numbers of replications, by configuration and kind
	alike      []string     // configurations in which all replications have the same jobs and hosts
	notes      []string     // notes for readers of the numbers
	drawn      []string     // names of the figures that were written

	paper *papers.Reference // reference values of the paper, computed on first use
	once  once

	critical stats.Critical
}

// A once holds values that are derived from a study on first use, because several outputs show
// them.
type once struct {
	labels   report.Labels
	summary  []results.Summary
	curve    []results.Point
	claims   papers.Claimed
	judged   []papers.Judged
	isJudged bool
	compared map[string][]contrast.Row // by metric
}

// labels returns the display names.
func (s *Study) labels() report.Labels {
	if s.once.labels == nil {
		s.once.labels = Labels()
	}
	return s.once.labels
}

// claims returns the claims of papers about s.
func (s *Study) claims() papers.Claimed {
	if s.once.claims == nil {
		s.once.claims = papers.About(s.Experiment.Name)
	}
	return s.once.claims
}

// judged returns the verdicts on those claims.
func (s *Study) judged() []papers.Judged {
	if !s.once.isJudged {
		s.once.judged, s.once.isJudged = papers.JudgeStudy(s.Experiment, s.claims(), s.metricRows), true
	}
	return s.once.judged
}

// compared compares the policies of s in a metric, paired by replication. It returns no rows
// if there is nothing to compare.
func (s *Study) compared(metric string) []contrast.Row {
	if rows, ok := s.once.compared[metric]; ok {
		return rows
	}
	rows, err := contrast.Of(s.metricRows(metric), policiesApart(metric), s.alike)
	if err != nil {
		rows = nil
	}
	if s.once.compared == nil {
		s.once.compared = make(map[string][]contrast.Row)
	}
	s.once.compared[metric] = rows
	return rows
}

// policiesApart returns the comparison of all policies in a metric.
func policiesApart(metric string) contrast.Ask {
	return contrast.Ask{Metrics: []string{metric}, Across: contrast.Policies, Ends: metrics.Ends(), Unsized: true}
}

// A cell holds one configuration under one policy, by replication. NaN means undefined.
type cell struct {
	values [][]float64 // by metric
	trials [][]float64 // by metric; empty if the metric has no trials
	curve  [][]float64 // by alpha

	unpaid    float64 // penalties owed but not paid over all replications, in dollars
	creditors int     // users to whom they were owed, counted per replication

	jobs metrics.Counts // over all replications
}

// trial returns the number of trials behind metric m of a replication, or 0 if it has none.
func (c *cell) trial(m, rep int) float64 {
	if len(c.trials[m]) == 0 {
		return 0
	}
	return c.trials[m][rep]
}

// newStudy returns a study of e without replications.
func newStudy(e *scenario.Experiment) *Study {
	x := e.Expanded()
	e = &x
	s := &Study{Experiment: e, Metrics: metrics.With(named(e)...), critical: make(stats.Critical), bounds: make([][kinds]int, len(e.Configurations))}
	if bargains(e) {
		s.Metrics = metrics.Bargained(s.Metrics)
	}
	for _, c := range e.Configurations {
		cells := make([]cell, len(c.Admission))
		for i := range cells {
			cells[i] = cell{values: make([][]float64, len(s.Metrics)), trials: make([][]float64, len(s.Metrics)), curve: make([][]float64, len(e.Alphas))}
		}
		s.cells = append(s.cells, cells)
	}
	return s
}

// bargains reports whether users of e may accept offers.
func bargains(e *scenario.Experiment) bool {
	return slices.ContainsFunc(e.Configurations, func(c scenario.Configuration) bool {
		return slices.ContainsFunc(c.Admission, func(a scenario.Choice) bool { return a.Negotiate != "" })
	})
}

// named returns the metrics that e names, and those of offers if users may receive some.
func named(e *scenario.Experiment) (names []string) {
	if e.Figure != nil {
		names = append(names, e.Figure.Metrics...)
	}
	if e.Until != nil {
		names = append(names, e.Until.Metric)
	}
	if bargains(e) {
		names = append(names, metrics.Negotiated()...)
	}
	return names
}

// beside returns the paper's values to show with the results.
func (s *Study) beside() *papers.Reference {
	if s.paper == nil {
		s.paper = new(papers.Beside(s.Experiment))
	}
	return s.paper
}

// besides is the number of values that measure appends after the efficiencies: for penalties
// and jobs.
const besides = 7

// measure appends to found all values that s stores of a run: every metric, the number of
// trials of metrics that have them, the efficiency at every alpha, and the counts of penalties
// and jobs. Undefined values are NaN.
func (s *Study) measure(run *Run, found []float64) []float64 {
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

// width returns the number of values that measure appends.
func (s *Study) width() int {
	return len(s.Metrics) + s.ofTrials() + len(s.Experiment.Alphas) + besides
}

// ofTrials returns the number of metrics that have trials.
func (s *Study) ofTrials() (n int) {
	for m := range s.Metrics {
		if s.Metrics[m].Trials != nil {
			n++
		}
	}
	return n
}

// add adds the next replications of a configuration from their measured values. Each
// replication starts with the kind of its U*, followed by the values of each policy.
func (s *Study) add(configuration int, found []float64) {
	s.once = once{labels: s.once.labels}
	cells := s.cells[configuration]
	for width := s.width(); len(found) > 0; {
		s.bounds[configuration][kind(found[0])]++
		found = found[1:]
		for k := range cells {
			c := &cells[k]
			at := len(c.values)
			for m := range c.values {
				c.values[m] = append(c.values[m], found[m])
				if s.Metrics[m].Trials != nil {
					c.trials[m] = append(c.trials[m], found[at])
					at++
				}
			}
			for a := range c.curve {
				c.curve[a] = append(c.curve[a], found[at+a])
			}
			rest := found[width-besides : width]
			c.unpaid += rest[0]
			for i, n := range []*int{&c.creditors, &c.jobs.Asked, &c.jobs.TooLate, &c.jobs.Started, &c.jobs.Completed, &c.jobs.Open} {
				*n += int(rest[1+i])
			}
			found = found[width:]
		}
	}
}

// noSample returns a note on the configurations whose replications are not a sample.
func (s *Study) noSample() []string {
	if len(s.alike) == 0 {
		return nil
	}
	where := strings.Join(s.alike, ", ")
	if len(s.alike) > 5 {
		where = fmt.Sprintf("%s and %d more", strings.Join(s.alike[:5], ", "), len(s.alike)-5)
	}
	return []string{fmt.Sprintf("%s: every replication has the same jobs on the same hosts, so that nothing but ties and what policies draw is left to chance: they are no sample, and have no deviations and intervals. One is enough; the workload model resample draws jobs from a log.", where)}
}

// shortfalls returns notes on penalties that were not paid in full: where, how much, and to
// how many users.
func (s *Study) shortfalls() (notes []string) {
	var all cell
	points := make(map[int]bool)
	s.each(func(configuration, policy int, _, label string) {
		c := &s.cells[configuration][policy]
		if c.unpaid == 0 {
			return
		}
		points[configuration], all.unpaid, all.creditors = true, all.unpaid+c.unpaid, all.creditors+c.creditors
		notes = append(notes, fmt.Sprintf("%s, %s: %s", s.labels().Of(s.Experiment.Configurations[configuration].Name), s.labels().Of(label), c.short()))
	})
	if len(s.Experiment.Sweep) > 0 && len(points) > 0 {
		notes = []string{fmt.Sprintf("In %d of %d points: %s", len(points), len(s.Experiment.Configurations), all.short())}
	}
	return notes
}

func (c *cell) short() string {
	users := "users"
	if c.creditors == 1 {
		users = "user"
	}
	return fmt.Sprintf("$%.6f of the penalties owed was not paid, to %d %s over all replications: neither the hosts of these contracts nor the provider had more.", c.unpaid, c.creditors, users)
}

// jobs returns a table of how many jobs were rejected because of their deadline, and how many
// jobs the wait and the slowdown cover. The table is empty unless it is needed. With a sweep,
// it returns a note with the rejections over all points instead.
func (s *Study) jobs(shown []string) (t report.Table, notes []string) {
	var all metrics.Counts
	points, open := make(map[int]bool), false
	over := "one replication"
	if n := s.Experiment.Replications; n > 1 {
		over = fmt.Sprintf("all %d replications", n)
	}
	t = report.Table{
		Title: "Jobs, over " + over, Left: 2,
		Header: []string{"configuration", "policy", "asked", "rejected: too late", "started", "completed", "open"},
		Note:   "Rejected: too late, as they could not end by their deadline. Waits are of the jobs that started, slowdowns of those completed. Open: not ended at the horizon; all other metrics leave them out, but for utilization.",
	}
	s.each(func(configuration, policy int, name, label string) {
		n := s.cells[configuration][policy].jobs
		open = open || n.Open > 0
		if n.TooLate > 0 {
			points[configuration] = true
			all.Asked, all.TooLate = all.Asked+n.Asked, all.TooLate+n.TooLate
		}
		t.Rows = append(t.Rows, report.Cells(s.labels().Of(name), s.labels().Of(label), n.Asked, n.TooLate, n.Started, n.Completed, n.Open))
	})
	waits := slices.ContainsFunc(shown, func(name string) bool {
		return slices.Contains([]string{metrics.Wait.Name, metrics.WaitMedian.Name, metrics.WaitP95.Name, metrics.Slowdown.Name, metrics.BoundedSlowdown.Name}, name)
	})
	sweep := len(s.Experiment.Sweep) > 0
	if sweep && len(points) > 0 {
		notes = []string{fmt.Sprintf("In %d of %d points policies rejected jobs because they could not end by their deadline: %d of %d.", len(points), len(s.Experiment.Configurations), all.TooLate, all.Asked)}
	}
	if sweep || len(points) == 0 && !waits && !open {
		t.Rows = nil
	}
	return t, notes
}

// refusals returns notes on the policies that rejected every request.
func (s *Study) refusals() (notes []string) {
	m := slices.IndexFunc(s.Metrics, func(m metrics.Metric) bool { return m.Name == "rejections" })
	by := make([][]string, len(s.Experiment.Configurations))
	s.each(func(configuration, policy int, _, label string) {
		if !slices.ContainsFunc(s.cells[configuration][policy].values[m], func(x float64) bool { return x != 1 }) {
			by[configuration] = append(by[configuration], s.labels().Of(label))
		}
	})
	const why = "; 'bourse explain' says why of any job."
	if len(s.Experiment.Sweep) > 0 {
		all := len(by)
		if by = slices.DeleteFunc(by, func(names []string) bool { return len(names) == 0 }); len(by) > 0 {
			notes = append(notes, fmt.Sprintf("In %d of %d points a policy refused every request%s", len(by), all, why))
		}
		return notes
	}
	for i, names := range by {
		if len(names) > 0 {
			notes = append(notes, fmt.Sprintf("%s: every request was refused, by %s%s", s.labels().Of(s.Experiment.Configurations[i].Name), strings.Join(names, ", "), why))
		}
	}
	return notes
}

// summary summarizes metric m over the replications in which it is defined.
func (s *Study) summary(configuration, policy, m int) stats.Summary {
	c := &s.cells[configuration][policy]
	var q stats.Quantity
	q.Lo, q.Hi = s.Metrics[m].Bound.Ends()
	for rep, trials := range c.trials[m] {
		if math.IsNaN(c.values[m][rep]) {
			continue
		}
		if q.Trials += int(trials); trials == 0 {
			q.Trials = 0 // constant by construction
			break
		}
	}
	return s.critical.Summarize(defined(c.values[m]), q)
}

// efficiency summarizes the efficiency at the scenario's a-th alpha.
func (s *Study) efficiency(configuration, policy, a int) stats.Summary {
	return s.critical.Summarize(defined(s.cells[configuration][policy].curve[a]), stats.Quantity{})
}

// defined returns the elements of all that are not NaN.
func defined(all []float64) (xs []float64) {
	for _, x := range all {
		if !math.IsNaN(x) {
			xs = append(xs, x)
		}
	}
	return xs
}

// Studied returns the study whose results are in d. Notes returns additional notes for its
// scenario.
func Studied(d *results.Dir, notes func(*scenario.Experiment) []string) (*Study, error) {
	e, err := scenario.Stored(d.Path, d.Manifest.Scenario)
	if err != nil {
		return nil, err
	}
	said := notes(&e)
	e = e.Expanded()
	e.Replications = d.Manifest.Replications // it may have stopped early
	units, plan, err := d.Units()
	if err != nil {
		return nil, err
	}
	at, err := where([]results.Source{units})
	if err != nil {
		return nil, err
	}
	s := newStudy(&e)
	if err := s.gather(plan, at.find, func(Unit, *results.Unit, string) error { return nil }); err != nil {
		return nil, err
	}
	s.notes = slices.Concat(s.told(), said, plan.Notes)
	return s, nil
}
