package models

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// A law is a distribution of interval lengths. Biased draws from the length-biased
// distribution: the length of the interval that contains a random time.
type law interface {
	draw(rng *rand.Rand) float64
	biased(rng *rand.Rand) float64
	mean() float64
}

// exponential is the exponential distribution with the given mean.
type exponential float64

func (l exponential) draw(rng *rand.Rand) float64 { return float64(l) * rng.ExpFloat64() }
func (l exponential) biased(rng *rand.Rand) float64 {
	return float64(l) * (rng.ExpFloat64() + rng.ExpFloat64())
}
func (l exponential) mean() float64 { return float64(l) }

// weibull is the Weibull distribution with S(x) = exp(-(x/scale)^shape).
type weibull struct{ shape, scale float64 }

func (l weibull) draw(rng *rand.Rand) float64 {
	return l.scale * math.Pow(rng.ExpFloat64(), 1/l.shape)
}
func (l weibull) biased(rng *rand.Rand) float64 {
	return l.scale * math.Pow(distuv.Gamma{Alpha: 1 + 1/l.shape, Beta: 1, Src: rng}.Rand(), 1/l.shape)
}
func (l weibull) mean() float64 { return l.scale * math.Gamma(1+1/l.shape) }

// logNormal is the distribution of exp(x) for a normal x.
type logNormal struct{ mu, sigma float64 }

func (l logNormal) draw(rng *rand.Rand) float64 { return math.Exp(l.mu + l.sigma*rng.NormFloat64()) }
func (l logNormal) biased(rng *rand.Rand) float64 {
	return math.Exp(l.mu + l.sigma*l.sigma + l.sigma*rng.NormFloat64())
}
func (l logNormal) mean() float64 { return math.Exp(l.mu + l.sigma*l.sigma/2) }

// gamma is the gamma distribution with the given shape and scale.
type gamma struct{ shape, scale float64 }

func (l gamma) draw(rng *rand.Rand) float64 {
	return distuv.Gamma{Alpha: l.shape, Beta: 1 / l.scale, Src: rng}.Rand()
}
func (l gamma) biased(rng *rand.Rand) float64 {
	return distuv.Gamma{Alpha: l.shape + 1, Beta: 1 / l.scale, Src: rng}.Rand()
}
func (l gamma) mean() float64 { return l.shape * l.scale }
