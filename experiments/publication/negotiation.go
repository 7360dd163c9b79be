package publication

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"bourse/experiments"
	"bourse/experiments/contrast"
	"bourse/experiments/metrics"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/experiments/verdicts"
)

// worthOf lists the metrics that show the value of negotiation.
var worthOf = []string{"efficiency_1", "violations", "revenue"}

// negotiation reports the value of negotiation. For each policy that was run both with and
// without negotiation, it lists the paired differences of three metrics. A sentence
// summarizes which differences are significant. If no policy was run both ways, the
// document is empty.
func negotiation(e *scenario.Experiment, rows []results.Metric, alike []string) (d report.Document) {
	ask := contrast.Ask{Metrics: worthOf, Across: contrast.Policies, Ends: metrics.Ends(), Pairs: negotiated(e)}
	if len(ask.Pairs) == 0 || e.Replications < 2 {
		return d
	}
	found, err := contrast.Of(rows, ask, alike)
	if err != nil {
		return d // the results do not contain the metric
	}
	l := Labels()
	var effects string
	for _, base := range bases(ask.Pairs) {
		var parts []string
		for _, m := range ask.Metrics {
			some := slices.DeleteFunc(slices.Clone(found), func(r contrast.Row) bool { return r.Metric != m || r.Second != base })
			parts = append(parts, verdicts.Count(m, some))
		}
		effects += " Under " + l.Of(base) + ": " + strings.Join(parts, "; ") + "."
	}
	d.Tables = contrastTables(l, found, ask)
	for i, m := range ask.Metrics {
		d.Tables[i].Title += ": with and without offers"
		f := report.Figure{Name: e.Name + "-worth-" + m, Title: l.Of(m) + ": with offers minus without", Caption: "The figure shows mean differences, with 95 % intervals that are simultaneous for all comparisons."}
		for _, r := range found {
			if r.Metric == m {
				f.Panels = forest(f.Panels, r, l, 0)
			}
		}
		d.Figures = append(d.Figures, f)
	}
	d.Notes = []string{fmt.Sprintf("The table shows the effects of offers in %d paired replications, compared with no negotiation (Student's t, 5 %% for all %d comparisons simultaneously, Bonferroni).%s",
		e.Replications, len(found), effects)}
	return d
}

// negotiation returns this report for s.
func (s *Report) negotiation() report.Document {
	if len(negotiated(s.Experiment)) == 0 {
		return report.Document{}
	}
	return negotiation(s.Experiment, s.MetricRows(worthOf...), s.Alike)
}

// negotiated returns the label of each policy that was run with negotiation. It pairs each
// label with the label of the same policy without negotiation.
func negotiated(e *scenario.Experiment) (pairs [][2]string) {
	for i := range e.Configurations {
		all := e.Configurations[i].Admission
		for _, a := range all {
			if !experiments.Negotiates(&a) {
				continue
			}
			for _, b := range all {
				pair := [2]string{a.Label, b.Label}
				if !experiments.Negotiates(&b) && alikeBut(a, b) && !slices.Contains(pairs, pair) {
					pairs = append(pairs, pair)
				}
			}
		}
	}
	return pairs
}

// alikeBut reports whether a and b are the same policy except for negotiation.
func alikeBut(a, b scenario.Choice) bool {
	sharing := func(c scenario.Choice) any {
		if c.Sharing == nil {
			return nil
		}
		return []any{c.Sharing.Name, c.Sharing.Options()}
	}
	return a.Name == b.Name && reflect.DeepEqual(a.Options(), b.Options()) && reflect.DeepEqual(sharing(a), sharing(b))
}

// bases returns the second element of each pair, without repetitions.
func bases(pairs [][2]string) (all []string) {
	for _, p := range pairs {
		if !slices.Contains(all, p[1]) {
			all = append(all, p[1])
		}
	}
	return all
}
