package main

import (
	"bourse/experiments/metrics"
	"bourse/experiments/papers"
	"bourse/experiments/scenario"
)

// known returns the names that a scenario may use.
func known() scenario.Known {
	return scenario.Known{
		Admission:   namesOf("admission"),
		Sharing:     namesOf("sharing"),
		Bidding:     namesOf("bidding"),
		Forecasters: namesOf("forecaster"),
		Models:      namesOf("model"),
		Payments:    namesOf("payment"),

		Availability: namesOf("availability"),
		Predictors:   namesOf("predictor"),

		Metrics: namesOf("metric"),
		Presets: papers.Presets(),
	}
}

// metricEnds returns what the metrics lie between that lie between two values.
func metricEnds() map[string][2]float64 {
	ends := make(map[string][2]float64)
	for _, m := range metrics.All() {
		if m.Bound != metrics.Unbounded {
			lo, hi := m.Bound.Ends()
			ends[m.Name] = [2]float64{lo, hi}
		}
	}
	return ends
}
