package publication

import (
	"maps"
	"slices"

	"bourse/experiments/papers"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/stats"
)

// tTests returns the paper's t-tests for policies that were run, next to the values printed
// in the paper. Replications are paired.
func tTests(rows []results.Metric, tests papers.Tests) []report.TTest {
	type series struct{ configuration, admission, metric string }
	values := make(map[series]map[int]float64) // values of each series, by replication
	var configurations []string
	tested := tests.Metrics()
	for _, r := range rows {
		if !slices.Contains(configurations, r.Configuration) {
			configurations = append(configurations, r.Configuration)
		}
		if r.Value == nil || !slices.Contains(tested, r.Metric) {
			continue
		}
		k := series{r.Configuration, r.Admission, r.Metric}
		if values[k] == nil {
			values[k] = make(map[int]float64)
		}
		values[k][r.Replication] = *r.Value
	}
	var all []report.TTest
	for i, row := range tests.Rows {
		for _, c := range configurations {
			one, other := values[series{c, row.First, row.Metric}], values[series{c, row.Second, row.Metric}]
			if one == nil || other == nil {
				continue
			}
			t := report.TTest{Configuration: c, First: row.First, Second: row.Second, Metric: row.Metric}
			if r, ok := paired(one, other); ok {
				t.T, t.Significant = &r.T, r.Significant()
			}
			t.Paper, t.PaperSignificant = tests.T(i, c)
			all = append(all, t)
		}
	}
	return all
}

// paired runs a paired t-test on the replications that both series contain.
func paired(one, other map[int]float64) (stats.TTest, bool) {
	var xs, ys []float64
	for _, rep := range slices.Sorted(maps.Keys(one)) {
		if y, ok := other[rep]; ok {
			xs, ys = append(xs, one[rep]), append(ys, y)
		}
	}
	return stats.PairedT(xs, ys)
}
