package fit

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"

	"bourse/workloadgen/config"
	"bourse/workloadgen/search"
)

// A family is a continuous distribution on positive values.
type family struct {
	params []string
	// fit returns the maximum likelihood estimates of the parameters; weights may be
	// fractions.
	fit func(s *Sample) ([]float64, error)
	// density returns the logarithm of the density as a function of x and its logarithm.
	density func(p []float64) density
	spec    func(p []float64) config.Spec
}

type density func(x, lnX float64) float64

func options(name string, pairs ...any) config.Spec {
	s := config.Spec{Name: name, Options: map[string]any{}}
	for i := 0; i < len(pairs); i += 2 {
		s.Options[pairs[i].(string)] = pairs[i+1]
	}
	return s
}

func value(x float64) float64 { return x }

var exponential = family{
	params: []string{"mean"},
	fit:    func(s *Sample) ([]float64, error) { return []float64{s.Mean(value)}, nil },
	density: func(p []float64) density {
		l, rate := math.Log(p[0]), 1/p[0]
		return func(x, _ float64) float64 { return -l - x*rate }
	},
	spec: func(p []float64) config.Spec { return options("exponential", "mean", p[0]) },
}

var lognormal = family{
	params: []string{"mu", "sigma"},
	fit: func(s *Sample) ([]float64, error) {
		v := s.varLog()
		if v <= 0 {
			return nil, errOneValue
		}
		return []float64{s.meanLog(), math.Sqrt(v)}, nil
	},
	density: func(p []float64) density {
		c := math.Log(p[1]) + math.Log(2*math.Pi)/2
		return func(_, lnX float64) float64 {
			z := (lnX - p[0]) / p[1]
			return -z*z/2 - lnX - c
		}
	},
	spec: func(p []float64) config.Spec { return options("lognormal", "mu", p[0], "sigma", p[1]) },
}

var errOneValue = fmt.Errorf("all values are the same")

// weibull solves 1/k = sum x^k ln x / sum x^k - mean ln x by Newton steps in 1/k, on values
// scaled by the largest one.
var weibull = family{
	params: []string{"shape", "scale"},
	fit: func(s *Sample) ([]float64, error) {
		ln := s.logs()
		top, v := ln[len(ln)-1], s.varLog()
		if v <= 0 {
			return nil, errOneValue
		}
		k := math.Pi / math.Sqrt(6*v) // variance of the logarithm of a Weibull variable
		meanLn := s.meanLog() - top
		var a float64
		for range 100 {
			var b, c float64 // sums of x^k ln x and x^k ln^2 x
			a = 0
			for i, l := range ln {
				l -= top
				e := s.W[i] * math.Exp(k*l)
				a += e
				b += e * l
				c += e * l * l
			}
			f := 1/k + meanLn - b/a
			step := f / (1/(k*k) + c/a - b*b/(a*a))
			next := math.Max(k/2, k+step)
			if k = next; math.Abs(step) <= 1e-12*k {
				break
			}
		}
		return []float64{k, math.Exp(top) * math.Pow(a/s.N, 1/k)}, nil
	},
	density: func(p []float64) density {
		k, lnK, lnScale := p[0], math.Log(p[0]), math.Log(p[1])
		return func(_, lnX float64) float64 {
			l := k * (lnX - lnScale)
			return lnK + l - lnX - math.Exp(l)
		}
	},
	spec: func(p []float64) config.Spec { return options("weibull", "shape", p[0], "scale", p[1]) },
}

// gamma solves ln k - digamma(k) = ln mean - mean ln by Newton steps in 1/k (Minka, 2002).
var gamma = family{
	params: []string{"shape", "scale"},
	fit: func(s *Sample) ([]float64, error) {
		mean := s.Mean(value)
		c := math.Log(mean) - s.meanLog()
		if c <= 1e-14 {
			return nil, errOneValue
		}
		k := (3 - c + math.Sqrt((c-3)*(c-3)+24*c)) / (12 * c)
		for range 100 {
			const h = 1e-5
			slope := (mathext.Digamma(k*(1+h)) - mathext.Digamma(k*(1-h))) / (2 * h * k)
			next := 1 / (1/k + (math.Log(k)-mathext.Digamma(k)-c)/(k*k*(1/k-slope)))
			done := math.Abs(next-k) <= 1e-12*k
			if k = next; done {
				break
			}
		}
		return []float64{k, mean / k}, nil
	},
	density: func(p []float64) density {
		lg, _ := math.Lgamma(p[0])
		c := lg + p[0]*math.Log(p[1])
		return func(x, lnX float64) float64 { return (p[0]-1)*lnX - x/p[1] - c }
	},
	spec: func(p []float64) config.Spec { return options("gamma", "shape", p[0], "scale", p[1]) },
}

// pareto uses the smallest value as its minimum, which therefore has no standard error.
var pareto = family{
	params: []string{"shape", "min"},
	fit: func(s *Sample) ([]float64, error) {
		l := s.meanLog() - s.logs()[0]
		if l <= 0 {
			return nil, errOneValue
		}
		return []float64{1 / l, s.X[0]}, nil
	},
	density: func(p []float64) density {
		c := math.Log(p[0]) + p[0]*math.Log(p[1])
		return func(_, lnX float64) float64 { return c - (p[0]+1)*lnX }
	},
	spec: func(p []float64) config.Spec { return options("pareto", "shape", p[0], "min", p[1]) },
}

// gpareto has threshold 0. For t = K/Sigma, the best K is the mean of ln(1 + t x), so only t
// must be searched. The search is in ln t, and only for K above 0, which holds for the runtimes
// of all logs.
var gpareto = family{
	params: []string{"k", "sigma"},
	fit: func(s *Sample) ([]float64, error) {
		k := func(t float64) float64 { return s.Mean(func(x float64) float64 { return math.Log1p(t * x) }) }
		scale := math.Log(s.median())
		at := search.Golden(func(y float64) float64 {
			t := math.Exp(y - scale)
			k := k(t)
			return math.Log(k/t) + k + 1 // negative log likelihood per value
		}, -12, 12, 1e-7)
		t := math.Exp(at - scale)
		return []float64{k(t), k(t) / t}, nil
	},
	density: func(p []float64) density {
		l := math.Log(p[1])
		return func(x, _ float64) float64 { return -l - (1/p[0]+1)*math.Log1p(p[0]*x/p[1]) }
	},
	spec: func(p []float64) config.Spec { return options("gpareto", "k", p[0], "sigma", p[1]) },
}
