// Package predictors predicts from a host's history whether it will stay
// available. It does not know jobs, or who acts on a forecast.
//
// A predictor asked at an instant uses what was known by then, but for gaps
// shorter than two minutes, which are dropped before anything is asked.
//
// Reference: Zhang, Phillips, "Job-Scheduling with Resource Availability
// Prediction for Volunteer-Based Grid Computing", §3.
//
// To add a predictor, write its file and its line in the table below.
package predictors

import (
	"bourse/hosts/availability"
	"bourse/workloadgen/config"
)

// A Predictor predicts what becomes of a host that is available now and is to
// run a job of that length, in seconds, more than 0.
type Predictor interface {
	Predict(h *availability.History, now, length float64) Forecast
}

// Completing is what a predictor says of completion alone.
type Completing struct{ Predictor }

// Stays returns the probability that a host which is available now completes a job of that
// length, in seconds.
func (c Completing) Stays(h *availability.History, now, length float64) float64 {
	return c.Predict(h, now, length).Completes
}

// A Judge is a predictor that knows sooner whether a threshold is met than it
// knows by how much.
type Judge interface {
	Predictor

	// AtLeast reports whether Predict's Completes is at least the reliability
	// given, to rounding.
	AtLeast(p *Past, now, length, least float64) bool
}

// Table returns the predictors. No predictor draws.
func Table() config.Table[Predictor] {
	return config.Table[Predictor]{Kind: "predictor", Members: config.Members[Predictor]{
		"naive":   {"the fraction of the last days in which the host was available", newNaive},
		"renewal": {"a distribution fitted to the host's past intervals, given the age of this one", newRenewal},
		"tde":     {"completions and exits at this time of day on the last days", newTDE},
	}}
}
