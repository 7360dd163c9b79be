package experiments

import (
	"slices"

	"bourse/experiments/papers/market"
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
	if preset != "paper" {
		return Paper{}
	}
	return Paper{market.Reference(), market.T2()}
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

// TTests returns Table 2: the pairs of be, sac and cac that were run, compared
// in violations and utilization.
func (s *Study) TTests(paper Paper) []report.TTest {
	var tests []report.TTest
	for _, pair := range compared {
		for _, metric := range tested {
			for i, c := range s.Experiment.Configurations {
				one, other := s.Policy(i, pair[0]), s.Policy(i, pair[1])
				if one < 0 || other < 0 {
					continue
				}
				t := report.TTest{Configuration: c.Name, First: pair[0], Second: pair[1], Metric: metric}
				if r, ok := s.Compare(i, s.Metric(metric), one, other); ok {
					t.T, t.Significant = &r.T, r.Significant()
				}
				if k := slices.IndexFunc(paper.TTests, func(p market.T) bool {
					return p.Configuration == c.Name && p.First == pair[0] && p.Second == pair[1] && p.Metric == metric
				}); k >= 0 {
					t.Paper, t.PaperSignificant = &paper.TTests[k].T, paper.TTests[k].Significant
				}
				tests = append(tests, t)
			}
		}
	}
	return tests
}

// Tables returns the tables of a study: a configuration each, what is printed
// beside what is measured, and Table 2.
func Tables(summary []results.Summary, tests []report.TTest, replications int) []report.Table {
	main := slices.DeleteFunc(slices.Clone(summary), func(r results.Summary) bool {
		return len(r.Metric) > 5 && r.Metric[:5] == "mean_"
	})
	tables := report.RunTables(main)
	if t := report.PaperTable(main); len(t.Rows) > 0 {
		tables = append(tables, t)
	}
	if len(tests) > 0 && replications > 1 {
		tables = append(tables, report.Table2(tests, stats.CriticalT(0.05, replications-1)))
	}
	return tables
}
