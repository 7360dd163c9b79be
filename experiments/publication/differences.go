package publication

import (
	"bourse/experiments"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/experiments/stats"
)

// Differences returns a figure of the paired differences in metrics between each policy and a
// baseline policy. It returns no figure unless the scenario requests one. In each replication,
// both policies run the same jobs, so the intervals of the differences are narrower than the
// intervals of the metrics.
func Differences(l report.Labels, e *scenario.Experiment, rows []results.Metric) []report.Figure {
	if e.Figure == nil || e.Figure.Less == "" {
		return nil
	}
	less := e.Figure.Less
	f := sweep(l, e).Figure(e.Name+"-less-"+less, e.Title+": less "+l.Of(less), differences(rows, less))
	if len(f.Panels) == 0 {
		return nil
	}
	return []report.Figure{f}
}

// differences summarizes the paired differences of each other policy minus the policy less, in
// the order of rows.
func differences(rows []results.Metric, less string) []results.Summary {
	type point struct{ configuration, metric string }
	type sample struct {
		point
		rep int
	}
	base := make(map[sample]float64)
	for _, r := range rows {
		if r.Admission == less && r.Value != nil {
			base[sample{point{r.Configuration, r.Metric}, r.Replication}] = *r.Value
		}
	}
	type series struct {
		point
		admission string
	}
	values := make(map[series][]float64)
	var order []series
	for _, r := range rows {
		p := point{r.Configuration, r.Metric}
		y, ok := base[sample{p, r.Replication}]
		if r.Admission == less || r.Value == nil || !ok {
			continue
		}
		k := series{p, r.Admission}
		if values[k] == nil {
			order = append(order, k)
		}
		values[k] = append(values[k], *r.Value-y)
	}
	var out []results.Summary
	for _, k := range order {
		row := results.Summary{Configuration: k.configuration, Admission: k.admission, Metric: k.metric}
		row.N, row.Mean, row.SD, row.Lo95, row.Hi95 = experiments.Described(stats.Summarize(values[k], stats.Quantity{}))
		out = append(out, row)
	}
	return out
}
