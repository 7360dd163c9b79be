package dist

import "math"

// GPareto is the generalized Pareto distribution, which the paper calls Pareto:
//
//	F(x) = 1 - (1 + K (x - Threshold)/Sigma)^(-1/K)
//
// above Threshold. It is exponential for K = 0, and bounded above for K < 0.
type GPareto struct {
	K         float64 `yaml:"k" doc:"shape"`
	Sigma     float64 `yaml:"sigma" validate:"gt=0" doc:"scale"`
	Threshold float64 `yaml:"threshold" doc:"smallest value"`
}

// blueHorizonPareto returns the distribution of runtimes in seconds that the paper compares
// with PolyLin.
func blueHorizonPareto() GPareto { return GPareto{K: 1.77332, Sigma: 213.171} }

func newGPareto(decode func(any) error) (Distribution, error) {
	g := blueHorizonPareto()
	err := decode(&g)
	return g, err
}

// CDF implements [Distribution].
func (g GPareto) CDF(x float64) float64 {
	z := (x - g.Threshold) / g.Sigma
	switch {
	case z <= 0:
		return 0
	case g.K == 0:
		return -math.Expm1(-z)
	case g.K*z <= -1:
		return 1
	}
	return -math.Expm1(-math.Log1p(g.K*z) / g.K)
}

// Quantile implements [Distribution].
func (g GPareto) Quantile(u float64) float64 {
	e := -math.Log1p(-u)
	if g.K == 0 {
		return g.Threshold + g.Sigma*e
	}
	return g.Threshold + g.Sigma*math.Expm1(g.K*e)/g.K
}

// Mean implements [Distribution].
func (g GPareto) Mean() float64 {
	if g.K >= 1 {
		return math.Inf(1)
	}
	return g.Threshold + g.Sigma/(1-g.K)
}

// Variance implements [Distribution].
func (g GPareto) Variance() float64 {
	if g.K >= 0.5 {
		return math.Inf(1)
	}
	return g.Sigma * g.Sigma / ((1 - g.K) * (1 - g.K) * (1 - 2*g.K))
}
