package experiments

import (
	"maps"
	"slices"

	"bourse/experiments/papers/market"
	"bourse/experiments/papers/volunteers"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/stats"
)

// A Paper is what a paper prints, in the terms of a study. The zero value prints
// nothing.
type Paper struct {
	Numbers []market.Printed
	TTests  []market.T
}

// PaperOf returns what the paper prints that the named preset repeats.
func PaperOf(preset string) Paper {
	switch preset {
	case "paper":
		return Paper{market.Reference(), market.T2()}
	case "volunteers-figure1":
		var p Paper
		for _, n := range volunteers.Reference() {
			p.Numbers = append(p.Numbers, market.Printed{
				Configuration: n.Configuration, Admission: n.Admission, Metric: n.Metric,
				Lo: n.Value, Hi: n.Value, Text: n.Text, Source: n.Source,
			})
		}
		return p
	}
	return Paper{}
}

// number returns the number printed, if it is one and not a range.
func (p Paper) number(configuration, admission, metric string) (float64, bool) {
	for _, n := range p.Numbers {
		if n.Configuration == configuration && n.Admission == admission && n.Metric == metric && n.Lo == n.Hi {
			return n.Lo, true
		}
	}
	return 0, false
}

// compared are the pairs of policies and the metrics of Table 2.
var (
	compared = [][2]string{{"be", "sac"}, {"be", "cac"}, {"sac", "cac"}}
	tested   = []string{"violations", "utilization"}
)

// TTests returns Table 2: the pairs of be, sac and cac that were run, compared in
// violations and utilization, paired by replication.
func TTests(rows []results.Metric, paper Paper) []report.TTest {
	type series struct{ configuration, admission, metric string }
	values := make(map[series]map[int]float64) // by replication
	var configurations []string
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
	var tests []report.TTest
	for _, pair := range compared {
		for _, metric := range tested {
			for _, c := range configurations {
				one, other := values[series{c, pair[0], metric}], values[series{c, pair[1], metric}]
				if one == nil || other == nil {
					continue
				}
				t := report.TTest{Configuration: c, First: pair[0], Second: pair[1], Metric: metric}
				if r, ok := paired(one, other); ok {
					t.T, t.Significant = &r.T, r.Significant()
				}
				if k := slices.IndexFunc(paper.TTests, func(p market.T) bool {
					return p.Configuration == c && p.First == pair[0] && p.Second == pair[1] && p.Metric == metric
				}); k >= 0 {
					t.Paper, t.PaperSignificant = &paper.TTests[k].T, paper.TTests[k].Significant
				}
				tests = append(tests, t)
			}
		}
	}
	return tests
}

// paired compares two series in the replications that both have.
func paired(one, other map[int]float64) (stats.TTest, bool) {
	var xs, ys []float64
	for _, rep := range slices.Sorted(maps.Keys(one)) {
		if y, ok := other[rep]; ok {
			xs, ys = append(xs, one[rep]), append(ys, y)
		}
	}
	return stats.PairedT(xs, ys)
}
