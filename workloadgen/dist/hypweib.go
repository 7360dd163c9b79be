package dist

import (
	"bourse/workloadgen/config"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// HypWeib is the hyper log-Weibull distribution of inter-arrival times in seconds (Sandholm,
// Lai, Clearwater, eq. 1), interpreted as a mixture. The value is the Weibull variable X with
// probability Alpha, and e^Y for the Weibull variable Y with probability 1 - Alpha.
//
// The paper writes Weibull(scale, shape).
type HypWeib struct {
	o     HypWeibOptions
	lnX   float64 // ln XScale
	guide *guide  // guide to the quantiles of ln Z
}

// HypWeibOptions are the options of "hypweib". The defaults are the paper's fit to the San
// Diego Blue Horizon.
type HypWeibOptions struct {
	Alpha  float64 `yaml:"alpha" validate:"min=0,max=1" doc:"weight of X"`
	XScale float64 `yaml:"x_scale" validate:"gt=0" doc:"scale of X, seconds"`
	XShape float64 `yaml:"x_shape" validate:"gt=0" doc:"shape of X"`
	YScale float64 `yaml:"y_scale" validate:"gt=0" doc:"scale of Y, logarithm of seconds"`
	YShape float64 `yaml:"y_shape" validate:"gt=0" doc:"shape of Y"`
}

// BlueHorizonIAT returns the paper's inter-arrival times.
func BlueHorizonIAT() HypWeibOptions {
	return HypWeibOptions{Alpha: 0.29, XScale: 16.1489, XShape: 1.3462, YScale: 5.93123, YShape: 4.95969}
}

func newHypWeib(decode func(any) error) (Distribution, error) {
	o := BlueHorizonIAT()
	if err := decode(&o); err != nil {
		return nil, err
	}
	return NewHypWeib(o)
}

// NewHypWeib returns the distribution.
func NewHypWeib(o HypWeibOptions) (*HypWeib, error) {
	if err := config.Check(&o); err != nil {
		return nil, err
	}
	h := &HypWeib{o: o, lnX: math.Log(o.XScale)}
	h.guide = newGuide(h.law, func(u float64) float64 {
		if y := math.Log(h.search(u)); y > 0 {
			return y
		}
		return math.NaN() // below 1 s the search is a formula
	})
	return h, nil
}

// CDF implements [Distribution].
func (h *HypWeib) CDF(z float64) float64 {
	if z <= 0 {
		return 0
	}
	f := h.o.Alpha * weibull(z, h.o.XScale, h.o.XShape)
	if z > 1 {
		f += (1 - h.o.Alpha) * weibull(math.Log(z), h.o.YScale, h.o.YShape)
	}
	return f
}

func weibull(x, scale, shape float64) float64 {
	return -math.Expm1(-math.Pow(x/scale, shape))
}

// Quantile implements [Distribution].
func (h *HypWeib) Quantile(u float64) float64 {
	lo, hi, guess, ok := h.guide.start(u)
	if !ok {
		return h.search(u)
	}
	return math.Exp(invert(h.law, u, lo, hi, guess))
}

// search finds a quantile without a guide. It lies between the quantiles of X and of e^Y.
func (h *HypWeib) search(u float64) float64 {
	e := -math.Log1p(-u)
	x := h.lnX + math.Log(e)/h.o.XShape
	y := h.o.YScale * math.Exp(math.Log(e)/h.o.YShape)
	switch {
	case h.o.Alpha == 0:
		return math.Exp(y)
	case h.o.Alpha == 1:
		return math.Exp(x)
	case u <= h.CDF(1): // only X is below 1 s
		e = -math.Log1p(-u / h.o.Alpha)
		return h.o.XScale * math.Exp(math.Log(e)/h.o.XShape)
	}
	lo, hi := math.Max(0, math.Min(x, y)), math.Max(x, y)
	return math.Exp(invert(h.law, u, lo, hi, lo+(hi-lo)/2))
}

// law returns the distribution function and the density of y = ln Z, for y
// above 0:
//
//	F(y) = Alpha (1 - exp(-(e^y/XScale)^XShape)) + (1-Alpha) (1 - exp(-(y/YScale)^YShape))
func (h *HypWeib) law(y float64) (cdf, density float64) {
	a, o := h.o.Alpha, &h.o
	tx := math.Exp(o.XShape * (y - h.lnX))
	ty := math.Exp(o.YShape * math.Log(y/o.YScale))
	ex, ey := math.Expm1(-tx), math.Expm1(-ty)
	return -a*ex - (1-a)*ey, a*(ex+1)*tx*o.XShape + (1-a)*(ey+1)*ty*o.YShape/y
}

// Mean implements [Distribution].
func (h *HypWeib) Mean() float64 { return h.moment(1) }

// Variance implements [Distribution].
func (h *HypWeib) Variance() float64 {
	m := h.moment(1)
	return h.moment(2) - m*m
}

// moment returns the n-th moment, or +Inf if it diverges. The moment of e^Y is computed by
// quadrature.
func (h *HypWeib) moment(n float64) float64 {
	x := math.Pow(h.o.XScale, n) * math.Gamma(1+n/h.o.XShape)
	if h.o.Alpha == 1 {
		return x
	}
	k, l := h.o.YShape, h.o.YScale
	if k < 1 || k == 1 && n*l >= 1 {
		return math.Inf(1)
	}
	end := l
	for math.Pow(end/l, k)-n*end < 60 { // the remaining terms are less than e^-60
		end *= 1.25
	}
	y := integrate(func(y float64) float64 {
		return math.Exp(n*y) * distuv.Weibull{K: k, Lambda: l}.Prob(y)
	}, 0, end)
	return h.o.Alpha*x + (1-h.o.Alpha)*y
}
