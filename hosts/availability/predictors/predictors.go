// Package predictors predicts from a host's history whether it will stay available. It is
// independent of jobs and of the users of a forecast.
//
// A predictor uses only information available at the time of the query. The exception is gaps
// shorter than two minutes, which are removed from the history in advance.
//
// Reference: Zhang, Phillips, "Job-Scheduling with Resource Availability Prediction for
// Volunteer-Based Grid Computing", §3.
//
// To add a predictor, write its file and add a line to the table below.
package predictors

import (
	"bourse/hosts/availability"
	"bourse/workloadgen/plugin"
)

// A Predictor predicts the outcome for a host that is available now and runs a job of the given
// length, in seconds, above 0.
type Predictor interface {
	Predict(h *availability.History, now, length float64) Forecast
}

// Completing returns only the probability of completion from a predictor.
type Completing struct{ Predictor }

// Stays returns the probability that a host that is available now completes a job of the given
// length, in seconds.
func (c Completing) Stays(h *availability.History, now, length float64) float64 {
	return c.Predict(h, now, length).Completes
}

// A Judge is a predictor that can decide whether a threshold is met without computing the exact
// probability.
type Judge interface {
	Predictor

	// AtLeast reports whether Completes of Predict is at least least, except for rounding.
	AtLeast(p *Past, now, length, least float64) bool
}

// Table returns the predictors. Predictors draw no random numbers.
func Table() plugin.Table[Predictor] {
	return plugin.Table[Predictor]{Kind: "predictor", Members: plugin.Members[Predictor]{
		"naive":   {"the fraction of the last days in which the host was available", newNaive},
		"renewal": {"a distribution fitted to the host's past intervals, given the age of this one", newRenewal},
		"tde":     {"completions and exits at this time of day on the last days", newTDE},
	}}
}
