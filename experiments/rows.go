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

// rowsAtOnce is the number of rows that are collected before they are encoded. It equals the
// number of rows that a [results.Encoder] writes at once.
const rowsAtOnce = 1 << 10

// A tabulator converts runs to rows. It encodes the rows in batches, which limits its memory.
type tabulator struct {
	out     *results.Encoder
	away    func(results.Block) error // function that receives full row groups; if nil, they stay in memory
	jobs    []results.Job
	endings []ending // data to which the rows in jobs point, by row
	prices  []results.Price
	metrics []results.Metric
}

func newTabulator(out *results.Encoder) *tabulator {
	return &tabulator{out: out, endings: make([]ending, rowsAtOnce)}
}

// run appends the rows of run r, with the measured values in found. The caller must not change
// found before the next call of [tabulator.block].
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

// MeasuredRows appends the rows for the values that [Study.Measure] returned for a run. The
// rows contain pointers into found.
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

// putAway passes full row groups to the function away.
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

// block returns all rows added since its last call, encoded. The result is valid until the
// next call of a method of the tabulator.
func (t *tabulator) block() (results.Block, error) {
	if err := errors.Join(t.encodeJobs(), t.encodePrices()); err != nil {
		return nil, err
	}
	return t.out.Block()
}

// An ending holds the data to which a row points: the deadline, the estimate and, for an
// admitted job, the outcome. It does not point into the run, because the memory of the run may
// be reused before the row is written.
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

// jobRow fills row with the values of a job. All fields of the row must be zero before the
// call. The row contains pointers into o. The argument known reports whether users knew the
// runtimes of their jobs, and volatile reports whether hosts leave.
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

// decision returns the decision that led to outcome o.
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

// Reason returns the reason for the decision on j, as it appears in results.
func Reason(j *metrics.Job) string {
	if j.Bargained {
		return results.OfferTaken
	}
	if j.Names {
		return string(j.Reason) + " " + strconv.FormatInt(int64(j.About), 10)
	}
	return string(j.Reason)
}

// PriceRow returns the row for price p in the given interval.
func PriceRow(configuration, admission string, rep, interval int, p float64) results.Price {
	return results.Price{Configuration: configuration, Admission: admission, Replication: rep, Time: float64(interval) * bin, MeanPrice: p}
}

// metricRow returns the row for metric m in one replication under one policy. Its value is x,
// or undefined if x is NaN. The argument trials is 0 if the metric does not count trials.
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

// MetricRows returns the rows of the named metrics in every replication. Without names, it
// returns the rows of all metrics.
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

// SummaryRows returns a row for every metric, summarized over all replications. If the paper
// prints a value for it, the row contains the printed value.
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

// CurveRows returns the efficiency at every alpha, for each configuration and policy.
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

// Each calls f for every configuration and policy, with the positions and names of both.
func (s *Study) Each(f func(configuration, policy int, name, label string)) {
	for i, c := range s.Experiment.Configurations {
		for k, a := range c.Admission {
			f(i, k, c.Name, a.Label)
		}
	}
}

// described is like the function [Described], but it omits the standard deviation and the
// interval if the replications of the configuration are all alike.
func (s *Study) described(configuration string, d stats.Summary) (n int, mean, sd, lo, hi *float64) {
	n, mean, sd, lo, hi = Described(d)
	if slices.Contains(s.Alike, configuration) {
		sd, lo, hi = nil, nil, nil
	}
	return n, mean, sd, lo, hi
}

// Described returns the values of d as the cells of a row. Undefined cells are nil.
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

// Axes returns the columns for the axes of the sweep of e.
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
