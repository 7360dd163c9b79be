package market

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A Forecaster estimates a price percentile from past prices.
type Forecaster interface {
	// Percentile returns F⁻¹(g), the price in dollars per second that will not
	// be exceeded with probability g in (0,1), judged by the window of h before
	// now (eq. 5).
	Percentile(h *History, now, g float64) float64
}

// forecasters is the table of forecasters; the first is the default.
var forecasters = []struct {
	name, doc string
	make      func(decode func(any) error, rng *rand.Rand) (Forecaster, error)
}{
	{"chebyshev", "one-sided Chebyshev (Cantelli) bound: mean + std sqrt(g/(1-g))", newChebyshev},
	{"chebyshev-two-sided", "two-sided Chebyshev bound: mean + std / sqrt(1-g)", newTwoSided},
	{"normal", "quantile of a Normal price of the same mean and std", newNormal},
	{"empirical", "the price that was not exceeded for a fraction g of the window", newEmpirical},
}

// NewForecaster returns a forecaster by name; "" means chebyshev. decode fills
// the options of the forecaster in and may be nil, meaning none are given. It
// fails if there is no such name or decode fails.
func NewForecaster(name string, decode func(any) error, rng *rand.Rand) (Forecaster, error) {
	for _, f := range forecasters {
		if name == f.name || name == "" {
			return f.make(decode, rng)
		}
	}
	return nil, fmt.Errorf("forecaster %q: want %s", name, strings.Join(ForecasterNames(), ", "))
}

// ForecasterNames returns the names that NewForecaster knows, the default first.
func ForecasterNames() []string {
	var names []string
	for _, f := range forecasters {
		names = append(names, f.name)
	}
	return names
}

// ForecasterDoc returns what the forecaster of that name does, in one line, or
// "" if there is none.
func ForecasterDoc(name string) string {
	for _, f := range forecasters {
		if name == f.name {
			return f.doc
		}
	}
	return ""
}

// noOptions lets decode refuse whatever is given to a forecaster without options.
func noOptions(decode func(any) error) error {
	if decode == nil {
		return nil
	}
	return decode(&struct{}{})
}
