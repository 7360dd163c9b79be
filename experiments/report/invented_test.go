package report

import (
	"math"

	"bourse/experiments/results"
)

// The rows below are invented. They have the form of a paper's tables.

func inventedLabels() Labels {
	return Labels{"be": "BE", "sac": "SAC", "cac": "CAC", "rac": "RAC", "efficiency_0": "Efficiency, α = 0", "efficiency_0.5": "Efficiency, α = 0.5", "efficiency_1": "Efficiency, α = 1"}
}

func invented() (summary []results.Summary) {
	level := map[string]float64{"pareto-low": 0.1, "pareto-high": 0.6}
	lift := map[string]float64{"be": 1, "sac": 0.6, "cac": 0.01, "rac": 0.7}
	for _, c := range []string{"pareto-low", "pareto-high"} {
		for _, a := range []string{"be", "sac", "cac", "rac"} {
			if a == "rac" && c != "pareto-high" {
				continue
			}
			rejected := 0.6 * level[c] * (1 - lift[a])
			add := func(metric string, mean float64) {
				sd := 0.15 * math.Sqrt(max(0, mean*(1-mean)))
				summary = append(summary, results.Summary{Configuration: c, Admission: a, Metric: metric, N: 5,
					Mean: &mean, SD: &sd, Lo95: new(mean - 1.24*sd), Hi95: new(mean + 1.24*sd)})
			}
			add("violations", level[c]*lift[a])
			add("rejections", rejected)
			add("utilization", 0.3+0.4*level[c])
			if a != "be" {
				add("demand_correlation", 0.6+0.2*lift[a])
			}
			for _, alpha := range []float64{0, 0.5, 1} {
				add("efficiency_"+shortest(alpha), 0.9-0.2*level[c]-rejected*0.3-alpha*lift[a]*level[c])
			}
		}
	}
	for i := range summary {
		if s := &summary[i]; s.Configuration == "pareto-high" && s.Admission == "be" && s.Metric == "violations" {
			s.Paper = new(0.61)
		} else if s.Configuration == "pareto-high" && s.Admission == "cac" && s.Metric == "rejections" {
			s.Paper = new(0.12)
		}
	}
	return summary
}

func inventedTests() []TTest {
	return []TTest{
		{"pareto-low", "be", "sac", "violations", new(2.511), true, new(2.48), true},
		{"pareto-high", "be", "sac", "violations", new(1.9), false, new(2.08), false},
		{"pareto-low", "be", "cac", "violations", new(-0.001), false, new(2.99), true},
		{"pareto-high", "be", "cac", "violations", nil, false, nil, false},
	}
}

// inventedLimit is 1.4 deviations plus the error of rounding to two digits.
func inventedLimit(s results.Summary) (float64, bool) {
	if s.SD == nil {
		return 0, false
	}
	return 1.4**s.SD + 0.005, true
}
