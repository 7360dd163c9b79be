package experiments

import (
	"bourse/experiments/papers"
	"bourse/experiments/scenario"
)

// Known returns the plug-in and metric names that a scenario may use.
func Known() scenario.Known {
	return scenario.Known{
		Admission:   NamesOf("admission"),
		Sharing:     NamesOf("sharing"),
		Bidding:     NamesOf("bidding"),
		Forecasters: NamesOf("forecaster"),
		Models:      NamesOf("model"),
		Payments:    NamesOf("payment"),

		Availability: NamesOf("availability"),
		Predictors:   NamesOf("predictor"),

		Metrics: NamesOf("metric"),
		Presets: papers.Presets(),
	}
}
