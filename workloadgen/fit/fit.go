// Package fit finds the distributions that fit a recorded quantity best. It uses maximum
// likelihood for continuous distributions, expectation-maximization for mixtures of two, least
// squares for PolyLin, and a histogram for BinBin (Sandholm, Lai, Clearwater, §2).
//
// Samples are stored as distinct values with counts. Times in logs are whole seconds and
// repeat often, so the cost of a fit depends on the number of distinct values. The package is
// independent of logs and plans.
package fit

import (
	"bourse/workloadgen/config"
	"bourse/workloadgen/dist"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// A Sample holds the values of a quantity with their counts.
type Sample struct {
	X []float64 // distinct values in ascending order
	W []float64 // count of each value; may be fractional in parts of a mixture
	N float64   // sum of W

	ln []float64 // logarithms of X, computed on demand
}

// Prepare computes values that all fits need, so that several fits may then read the sample
// concurrently.
func (s *Sample) Prepare() { s.logs() }

// logs returns the logarithms of the values, one per value.
func (s *Sample) logs() []float64 {
	if len(s.ln) != len(s.X) {
		s.ln = make([]float64, len(s.X))
		for i, x := range s.X {
			s.ln[i] = math.Log(x)
		}
	}
	return s.ln
}

// meanLog returns the mean of the logarithms.
func (s *Sample) meanLog() float64 {
	sum := 0.0
	for i, l := range s.logs() {
		sum += s.W[i] * l
	}
	return sum / s.N
}

// varLog returns the variance of the logarithms.
func (s *Sample) varLog() float64 {
	mean, sum := s.meanLog(), 0.0
	for i, l := range s.logs() {
		sum += s.W[i] * (l - mean) * (l - mean)
	}
	return sum / s.N
}

// NewSample counts values, which may be in any order. It returns an error if a value is not a
// number or there are no values.
func NewSample(values []float64) (*Sample, error) {
	if len(values) == 0 {
		return nil, fmt.Errorf("no values")
	}
	s := &Sample{N: float64(len(values))}
	for _, x := range slices.Sorted(slices.Values(values)) {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("value %v is not a number", x)
		}
		if n := len(s.X); n > 0 && s.X[n-1] == x {
			s.W[n-1]++
			continue
		}
		s.X, s.W = append(s.X, x), append(s.W, 1)
	}
	return s, nil
}

// Mean returns the mean of f over the sample.
func (s *Sample) Mean(f func(float64) float64) float64 {
	sum := 0.0
	for i, x := range s.X {
		sum += s.W[i] * f(x)
	}
	return sum / s.N
}

// median returns the smallest value that at least half of the sample does not exceed.
func (s *Sample) median() float64 {
	sum := 0.0
	for i, x := range s.X {
		if sum += s.W[i]; sum >= s.N/2 {
			return x
		}
	}
	return s.X[len(s.X)-1]
}

// distance returns the largest difference between the sample's distribution
// function and cdf, on both sides of every step.
func (s *Sample) distance(cdf func(float64) float64) float64 {
	d, below := 0.0, 0.0
	for i, x := range s.X {
		at := below + s.W[i]
		d = max(d, math.Abs(cdf(math.Nextafter(x, math.Inf(-1)))-below/s.N), math.Abs(cdf(x)-at/s.N))
		below = at
	}
	return d
}

// A Param is one fitted parameter.
type Param struct {
	Name  string
	Value float64
	SE    float64 // standard error; NaN if the method gives none
}

// A Fit is a distribution fitted to a sample.
type Fit struct {
	Name   string
	Law    config.Spec // specification for [dist.New]
	Params []Param
	N      int     // number of values fitted
	LogLik float64 // NaN if the distribution does not have a density at every value
	AIC    float64 // 2 (number of parameters) - 2 LogLik; NaN if LogLik is NaN
	KS     float64 // largest difference from the sample's distribution function
	Note   string  // changes made to the sample before the fit; often empty
}

// Options contains the options of fits.
type Options struct {
	Break float64 // initial boundary between the two parts of HypWeib, in seconds; 10 in the paper
	From  float64 // smallest value that PolyLin uses, in seconds; 30 in the paper
	Bins  int     // number of exponents of BinBin and Zipf; 6 in the paper
	Shift int     // added to the exponents; 2 in the paper
}

// PaperOptions returns the options of the market paper.
func PaperOptions() Options { return Options{Break: 10, From: 30, Bins: 6, Shift: 2} }

// methods is the table of fits. For continuous distributions that require values above 0,
// values of 0 are replaced by half of the smallest positive value, because a log's clock has
// whole seconds.
var methods = map[string]func(s *Sample, o Options) (Fit, error){
	"binbin":      fitBinBin,
	"exponential": continuous(exponential),
	"gamma":       continuous(gamma),
	"gpareto":     continuous(gpareto),
	"hypergamma":  mixture(gamma, gamma, identity, "hypergamma"),
	"hyperexp":    mixture(exponential, exponential, identity, "mixture"),
	"hypweib":     mixture(weibull, weibull, logarithm, "hypweib"),
	"lognormal":   continuous(lognormal),
	"lognormal2":  mixture(lognormal, lognormal, identity, "mixture"),
	"pareto":      continuous(pareto),
	"polylin":     fitPolyLin,
	"weibull":     continuous(weibull),
	"weibull2":    mixture(weibull, weibull, identity, "mixture"),
	"zipf":        fitZipf,
}

// Names returns the names of the fits, sorted.
func Names() []string { return slices.Sorted(maps.Keys(methods)) }

// New fits the named distribution to the sample. The same sample gives the same fit.
func New(name string, s *Sample, o Options) (Fit, error) {
	method, ok := methods[name]
	if !ok {
		return Fit{}, fmt.Errorf("unknown fit %q, want one of %s", name, strings.Join(Names(), ", "))
	}
	f, err := method(s, o)
	if err != nil {
		return Fit{}, fmt.Errorf("fit %s: %w", name, err)
	}
	f.Name, f.N = name, int(math.Round(s.N))
	return f, nil
}

// finish creates the distribution and measures its fit.
func (f Fit) finish(s *Sample) (Fit, error) {
	law, err := dist.Table().New(f.Law.Name, f.Law.Decode)
	if err != nil {
		return f, err
	}
	f.KS = s.distance(law.CDF)
	f.AIC = 2*float64(len(f.Params)) - 2*f.LogLik
	return f, nil
}
