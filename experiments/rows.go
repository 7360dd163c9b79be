package experiments

import (
	"strconv"

	"bourse/bank"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/experiments/stats"
)

// write appends the rows of r to w.
func write(w *results.Writer, e *scenario.Experiment, s *Study, r *Replication) error {
	c := &e.Configurations[r.Configuration]
	for k, run := range r.Runs {
		label := c.Admission[k].Label
		if err := w.Jobs(jobRows(c.Name, label, r.Rep, run)); err != nil {
			return err
		}
		if err := w.Prices(priceRows(c.Name, label, r.Rep, run)); err != nil {
			return err
		}
		if err := w.Metrics(s.metricRows(r.Configuration, k, r.Rep)); err != nil {
			return err
		}
	}
	return nil
}

// An ending is what a row points to of a job that was admitted: not into the run,
// whose memory may be used again before the row is written.
type ending struct {
	start, end, done, wasted float64
	paid, penalty            results.Money
	losses                   int
	fulfilled                bool
}

func jobRows(configuration, admission string, rep int, run *Run) []results.Job {
	rows := make([]results.Job, len(run.Jobs))
	endings := make([]ending, len(run.Jobs))
	for i := range rows {
		j, rec := &run.Jobs[i], &run.Records[i]
		rows[i] = results.Job{
			Configuration: configuration, Admission: admission, Replication: rep,
			Job: strconv.FormatInt(rec.ID, 10), User: strconv.FormatInt(rec.User, 10),
			Arrival: j.Arrival, Runtime: rec.Runtime, Nodes: rec.Nodes, Value: money(rec.Value),
			Decision: rec.Decision.String(), Reason: reason(rec), Work: j.Work,
		}
		if j.Admitted {
			o := &endings[i]
			*o = ending{
				start: j.Start, end: j.End, done: j.ByDue, wasted: j.Wasted, losses: j.Losses,
				paid: money(rec.Paid), penalty: money(rec.Penalty), fulfilled: j.Fulfilled,
			}
			if j.Gang && j.Begun {
				o.start = j.Began
			}
			rows[i].Start, rows[i].End, rows[i].WorkDone = &o.start, &o.end, &o.done
			if run.Outcome.Volatile {
				rows[i].Losses, rows[i].Wasted = &o.losses, &o.wasted
			}
			rows[i].Paid, rows[i].Penalty, rows[i].Fulfilled = &o.paid, &o.penalty, &o.fulfilled
		}
	}
	return rows
}

func money(a bank.Amount) results.Money { return results.Money(a.Micros()) }

func reason(r *Record) string {
	if r.Names {
		return string(r.Reason) + " " + strconv.FormatInt(int64(r.About), 10)
	}
	return string(r.Reason)
}

func priceRows(configuration, admission string, rep int, run *Run) []results.Price {
	rows := make([]results.Price, len(run.Prices))
	for i, p := range run.Prices {
		rows[i] = results.Price{
			Configuration: configuration, Admission: admission, Replication: rep, Time: float64(i) * bin, MeanPrice: p,
		}
	}
	return rows
}

// metricRows returns every metric of one replication.
func (s *Study) metricRows(configuration, policy, rep int) []results.Metric {
	c := &s.Experiment.Configurations[configuration]
	rows := make([]results.Metric, len(s.Metrics))
	for m := range rows {
		rows[m] = results.Metric{
			Configuration: c.Name, Admission: c.Admission[policy].Label, Replication: rep, Metric: s.Metrics[m].Name,
		}
		if x, ok := s.Value(configuration, policy, m, rep); ok {
			rows[m].Value = &x
		}
	}
	return rows
}

// MetricRows returns every metric of every replication.
func (s *Study) MetricRows() []results.Metric {
	var rows []results.Metric
	s.each(func(configuration, policy int, _, _ string) {
		for rep := range s.Experiment.Replications {
			rows = append(rows, s.metricRows(configuration, policy, rep)...)
		}
	})
	return rows
}

// SummaryRows returns every metric over all replications, beside what is printed.
func (s *Study) SummaryRows(paper Paper) []results.Summary {
	var rows []results.Summary
	s.each(func(configuration, policy int, name, label string) {
		for m := range s.Metrics {
			row := results.Summary{Configuration: name, Admission: label, Metric: s.Metrics[m].Name}
			row.N, row.Mean, row.SD, row.Lo95, row.Hi95 = described(s.Summary(configuration, policy, m))
			if x, ok := paper.number(name, label, row.Metric); ok {
				row.Paper = &x
			}
			rows = append(rows, row)
		}
	})
	return rows
}

// CurveRows returns efficiency at every alpha.
func (s *Study) CurveRows() []results.Point {
	var rows []results.Point
	s.each(func(configuration, policy int, name, label string) {
		for a, alpha := range s.Experiment.Alphas {
			row := results.Point{Configuration: name, Admission: label, Alpha: alpha}
			row.N, row.Mean, row.SD, row.Lo95, row.Hi95 = described(s.Efficiency(configuration, policy, a))
			rows = append(rows, row)
		}
	})
	return rows
}

// each calls f for every configuration and policy, with their numbers and names.
func (s *Study) each(f func(configuration, policy int, name, label string)) {
	for i, c := range s.Experiment.Configurations {
		for k, a := range c.Admission {
			f(i, k, c.Name, a.Label)
		}
	}
}

// described returns d as the cells of a row, nil where they mean nothing.
func described(d stats.Summary) (n int, mean, sd, lo, hi *float64) {
	if d.N > 0 {
		mean = &d.Mean
	}
	if d.HasInterval() {
		sd, lo, hi = &d.SD, &d.Lo95, &d.Hi95
	}
	return d.N, mean, sd, lo, hi
}
