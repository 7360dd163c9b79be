package experiments

import (
	"errors"
	"math"
	"slices"
	"strconv"

	"bourse/bank"
	"bourse/contracts"
	"bourse/experiments/metrics"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/experiments/stats"
)

// rowsAtOnce is the number of rows to collect before encoding them. It equals the number that
// a [results.Encoder] writes at once.
const rowsAtOnce = 1 << 10

// A tabulator converts runs to rows and encodes them in batches, which bounds its memory.
type tabulator struct {
	out     *results.Encoder
	away    func(results.Block) error // destination of full row groups; nil: they are kept in memory
	jobs    []results.Job
	endings []ending // data that jobs points to, by row
	prices  []results.Price
	metrics []results.Metric
}

func newTabulator(out *results.Encoder) *tabulator {
	return &tabulator{out: out, endings: make([]ending, rowsAtOnce)}
}

// run appends the rows of a run of r, with the measured values found. The caller must not
// change found before [tabulator.block].
func (t *tabulator) run(s *Study, r *Replication, policy int, run *Run, found []float64) error {
	c := &s.Experiment.Configurations[r.Configuration]
	label, known := c.Admission[policy].Label, knowRuntimes(run.Jobs)
	for i := range run.Jobs {
		n := len(t.jobs)
		t.jobs = append(t.jobs, results.Job{})
		jobRow(&t.jobs[n], &t.endings[n], c, label, r.Rep, &run.Jobs[i], known, run.Outcome.Volatile)
		if n+1 == rowsAtOnce {
			if err := t.encodeJobs(); err != nil {
				return err
			}
		}
	}
	for i := range run.Prices {
		t.prices = append(t.prices, PriceRow(c.Name, label, r.Rep, i, run.Prices[i]))
		if len(t.prices) == rowsAtOnce {
			if err := t.encodePrices(); err != nil {
				return err
			}
		}
	}
	t.metrics = s.MeasuredRows(t.metrics[:0], r.Configuration, policy, r.Rep, found)
	return t.out.Metrics(t.metrics)
}

// MeasuredRows appends the rows of the values that [Study.Measure] returned for a run. The
// rows point into found.
func (s *Study) MeasuredRows(rows []results.Metric, configuration, policy, rep int, found []float64) []results.Metric {
	at := len(s.Metrics)
	for m := range s.Metrics {
		trials := 0.0
		if s.Metrics[m].Trials != nil {
			trials = found[at]
			at++
		}
		rows = append(rows, s.metricRow(configuration, policy, rep, m, &found[m], trials))
	}
	return rows
}

func (t *tabulator) encodeJobs() error {
	rows := t.jobs
	t.jobs = t.jobs[:0]
	return errors.Join(t.out.Jobs(rows), t.putAway())
}

func (t *tabulator) encodePrices() error {
	rows := t.prices
	t.prices = t.prices[:0]
	return errors.Join(t.out.Prices(rows), t.putAway())
}

// putAway passes full row groups to away.
func (t *tabulator) putAway() error {
	if t.away == nil {
		return nil
	}
	b, err := t.out.Full()
	if err != nil {
		return err
	}
	return t.away(b)
}

// block returns all rows since its last call, encoded. The result is valid until the next
// call.
func (t *tabulator) block() (results.Block, error) {
	if err := errors.Join(t.encodeJobs(), t.encodePrices()); err != nil {
		return nil, err
	}
	return t.out.Block()
}

// An ending holds the data that a row points to: deadline and estimate, and the outcome of an
// admitted job. It does not point into the run, whose memory may be reused before the row is
// written.
type ending struct {
	due, estimate, bid, start, finish, share, done, wasted float64
	paid, penalty, owed                                    results.Money
	losses                                                 int
	fulfilled                                              bool
}

// knowRuntimes reports whether the estimates of all jobs equal their runtimes.
func knowRuntimes(jobs []metrics.Job) bool {
	for i := range jobs {
		if jobs[i].Estimate != jobs[i].Runtime {
			return false
		}
	}
	return true
}

// jobRow fills row, which must be zero, with the values of j. The row points into o. Known
// states whether users knew the runtimes of their jobs, and volatile whether hosts leave.
func jobRow(row *results.Job, o *ending, at *scenario.Configuration, admission string, rep int, j *metrics.Job, known, volatile bool) {
	sla, c := &at.SLA, &j.Contract
	row.Configuration, row.Admission, row.Replication = at.Name, admission, rep
	row.Job, row.User = strconv.FormatInt(j.ID, 10), strconv.FormatInt(j.User, 10)
	row.Arrival, row.Runtime, row.Nodes, row.Work = j.Arrival, j.Runtime, j.Nodes, j.Work()
	if !known {
		o.estimate, row.Estimate = j.Estimate, &o.estimate
	}
	row.Decision, row.Reason = decision(c.Outcome).String(), Reason(j)
	if row.Value = money(dollars(j.Value)); j.Bargained {
		row.Value = money(c.Budget)
	}
	if !j.OnDemand {
		if o.due = j.Arrival + sla.Slack*deadline(sla.Of, j.Job); j.Bargained {
			o.due = j.Due()
		}
		row.Deadline = &o.due
	}
	if !j.Admitted() {
		return
	}
	*o = ending{
		due: o.due, estimate: o.estimate, bid: c.Budget.Float64() / c.Deadline, start: c.Admitted, finish: c.Ended, done: c.ByDue, wasted: c.Wasted,
		paid: money(c.Paid), penalty: money(c.Penalty), owed: money(c.Owed), losses: c.Losses, fulfilled: j.Fulfilled(),
	}
	if c.Gang && !math.IsInf(c.Began, 1) {
		o.start = c.Began
	}
	row.Bid, row.Start, row.Finish, row.WorkDone = &o.bid, &o.start, &o.finish, &o.done
	if took := o.finish - o.start; took > 0 {
		o.share = c.Done / (float64(j.Nodes) * took)
		row.Share = &o.share
	}
	if volatile {
		row.Losses, row.Wasted = &o.losses, &o.wasted
	}
	row.Paid, row.Penalty, row.PenaltyOwed, row.Fulfilled = &o.paid, &o.penalty, &o.owed, &o.fulfilled
}

// decision returns the decision that leads to outcome o.
func decision(o contracts.Outcome) contracts.Verdict {
	switch o {
	case contracts.Refused:
		return contracts.Reject
	case contracts.Open:
		return contracts.Defer
	default:
		return contracts.Accept
	}
}

func money(a bank.Amount) results.Money { return results.Money(a.Micros()) }

// Reason returns the reason for the decision on j, as results state it.
func Reason(j *metrics.Job) string {
	if j.Bargained {
		return results.OfferTaken
	}
	if j.Names {
		return string(j.Reason) + " " + strconv.FormatInt(int64(j.About), 10)
	}
	return string(j.Reason)
}

// PriceRow returns the row of price p in the given interval.
func PriceRow(configuration, admission string, rep, interval int, p float64) results.Price {
	return results.Price{Configuration: configuration, Admission: admission, Replication: rep, Time: float64(interval) * bin, MeanPrice: p}
}

// metricRow returns the row of metric m in one replication under one policy. Its value is at
// x, or undefined if that is NaN. A trials of 0 means that the metric does not count trials.
func (s *Study) metricRow(configuration, policy, rep, m int, x *float64, trials float64) results.Metric {
	c := &s.Experiment.Configurations[configuration]
	row := results.Metric{
		Configuration: c.Name, Admission: c.Admission[policy].Label, Replication: rep, Metric: s.Metrics[m].Name,
	}
	if !math.IsNaN(*x) {
		row.Value = x
		if trials > 0 {
			row.Trials = new(int(trials))
		}
	}
	return row
}

// MetricRows returns the named metrics of every replication, or all metrics if there are no
// names.
func (s *Study) MetricRows(names ...string) []results.Metric {
	var wanted []int
	for m := range s.Metrics {
		if len(names) == 0 || slices.Contains(names, s.Metrics[m].Name) {
			wanted = append(wanted, m)
		}
	}
	runs := 0
	s.Each(func(int, int, string, string) { runs += s.Experiment.Replications })
	rows := make([]results.Metric, 0, runs*len(wanted))
	s.Each(func(configuration, policy int, _, _ string) {
		c := &s.Cells[configuration][policy]
		for rep := range s.Experiment.Replications {
			for _, m := range wanted {
				rows = append(rows, s.metricRow(configuration, policy, rep, m, &c.Values[m][rep], c.trial(m, rep)))
			}
		}
	})
	return rows
}

// SummaryRows returns every metric over all replications, with the printed value of the paper
// if there is one.
func (s *Study) SummaryRows() []results.Summary {
	if s.summed == nil {
		s.summed = s.summaries()
	}
	return slices.Clone(s.summed)
}

func (s *Study) summaries() []results.Summary {
	var rows []results.Summary
	paper := s.Beside()
	s.Each(func(configuration, policy int, name, label string) {
		for m := range s.Metrics {
			row := results.Summary{Configuration: name, Admission: label, Metric: s.Metrics[m].Name}
			row.N, row.Mean, row.SD, row.Lo95, row.Hi95 = s.described(name, s.summary(configuration, policy, m))
			if u := s.Experiment.Until; u != nil && u.Metric == row.Metric {
				row.Lo95, row.Hi95 = nil, nil
				if lo, hi, ok := s.Anytime(configuration, policy); ok {
					row.Lo95, row.Hi95 = &lo, &hi
				}
			}
			if x, ok := paper.Number(name, label, row.Metric); ok {
				row.Paper = &x
			}
			rows = append(rows, row)
		}
	})
	return rows
}

// CurveRows returns the efficiency at every alpha.
func (s *Study) CurveRows() []results.Point {
	if s.curved == nil {
		s.curved = s.points()
	}
	return slices.Clone(s.curved)
}

func (s *Study) points() []results.Point {
	var rows []results.Point
	s.Each(func(configuration, policy int, name, label string) {
		for a, alpha := range s.Experiment.Alphas {
			row := results.Point{Configuration: name, Admission: label, Alpha: alpha}
			row.N, row.Mean, row.SD, row.Lo95, row.Hi95 = s.described(name, s.efficiency(configuration, policy, a))
			rows = append(rows, row)
		}
	})
	return rows
}

// Each calls f for every configuration and policy, with their positions and names.
func (s *Study) Each(f func(configuration, policy int, name, label string)) {
	for i, c := range s.Experiment.Configurations {
		for k, a := range c.Admission {
			f(i, k, c.Name, a.Label)
		}
	}
}

// Described is like the function [described], but omits deviation and interval for
// configurations whose replications are not a sample.
func (s *Study) described(configuration string, d stats.Summary) (n int, mean, sd, lo, hi *float64) {
	n, mean, sd, lo, hi = Described(d)
	if slices.Contains(s.Alike, configuration) {
		sd, lo, hi = nil, nil, nil
	}
	return n, mean, sd, lo, hi
}

// Described returns d as the cells of a row; undefined ones are nil.
func Described(d stats.Summary) (n int, mean, sd, lo, hi *float64) {
	if d.N > 0 {
		mean = &d.Mean
	}
	if d.HasDeviation() {
		sd = &d.SD
	}
	if d.HasInterval() {
		lo, hi = &d.Lo95, &d.Hi95
	}
	return d.N, mean, sd, lo, hi
}

// Axes returns the columns of the sweep of e.
func Axes(e *scenario.Experiment) (all results.Axes) {
	for _, a := range e.Sweep {
		values := make([]string, len(a.Values))
		for i, v := range a.Values {
			values[i] = string(v)
		}
		all.Axis(a.Name(), values)
	}
	return all
}
