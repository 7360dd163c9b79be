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
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"bourse/hosts/availability"
)

// A Predictor predicts what becomes of a host that is available now and is to
// run a job of that length, in seconds, more than 0.
type Predictor interface {
	Predict(h *availability.History, now, length float64) Forecast
}

// A Judge is a predictor that knows sooner whether a threshold is met than it
// knows by how much.
type Judge interface {
	Predictor

	// AtLeast reports whether Predict's Completes is at least the reliability
	// given, to rounding.
	AtLeast(h *availability.History, now, length, least float64) bool
}

// A factory makes a predictor. Decode fills in the predictor's own options
// struct and rejects unknown fields.
type factory func(decode func(any) error) (Predictor, error)

// predictors is the table of predictors by the name scenarios use.
var predictors = map[string]struct {
	doc string
	new factory
}{
	"naive":   {"the share of the last days in which the host was available", newNaive},
	"renewal": {"a law fitted to the host's past intervals, given how long this one has lasted", newRenewal},
	"tde":     {"completions and exits at this time of day on the last days", newTDE},
}

// New makes the named predictor. No predictor draws: rng may be nil.
func New(name string, decode func(any) error, _ *rand.Rand) (Predictor, error) {
	p, ok := predictors[name]
	if !ok {
		return nil, fmt.Errorf("unknown predictor %q (known: %s)", name, strings.Join(Names(), ", "))
	}
	if decode == nil {
		decode = func(any) error { return nil }
	}
	made, err := p.new(decode)
	if err != nil {
		return nil, fmt.Errorf("predictor %s: %w", name, err)
	}
	return made, nil
}

// Names returns the names of the predictors, sorted.
func Names() []string { return slices.Sorted(maps.Keys(predictors)) }

// Doc returns one line on the named predictor, empty if there is none.
func Doc(name string) string { return predictors[name].doc }
