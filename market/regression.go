package market

import (
	"math"
	"slices"

	"bourse/workloadgen/plugin"
)

// A regression fits the percentile of the price as a line in the price some time before
// (quantile regression, Koenker and Bassett 1978): of the pairs (x, y) of a price in the
// window and the price a lag later, a and b are those of least
//
//	Σ ρ(y - a - b x), ρ(u) = u (g - [u < 0])
//
// and F⁻¹(g) = a + b c, where c is the price now. It can be below 0.
type regression struct {
	RegressionOptions
	stays []stay // scratch
	pairs []pair // scratch
	ys    []float64
}

// A pair is a price and the price a lag later.
type pair struct{ x, y float64 }

// RegressionOptions are the options of quantile.
type RegressionOptions struct {
	Lag     float64 `yaml:"lag" validate:"gt=0,lt=1" doc:"time between the two prices of a pair, as a part of the window"`
	Samples int     `yaml:"samples" validate:"min=2,max=100" doc:"pairs taken from the window, evenly"`
}

func newRegression(decode plugin.Decoder) (Forecaster, error) {
	o := RegressionOptions{Lag: 0.3, Samples: 30}
	err := decode(&o)
	return &regression{RegressionOptions: o}, err
}

func (r *regression) Percentile(h *History, now, g float64) float64 {
	r.stays = h.stays(now, r.stays[:0])
	if len(r.stays) < 2 {
		return h.Price().Float64()
	}
	r.sample(min(now, h.Window()))
	a, b := r.fit(g)
	return a + b*h.Price().Float64()
}

// sample fills pairs from stays, which are of so many seconds.
func (r *regression) sample(length float64) {
	lag := r.Lag * length
	r.pairs = r.pairs[:0]
	early, late := walk{stays: r.stays}, walk{stays: r.stays}
	for i := range r.Samples {
		at := (length - lag) * float64(i) / float64(r.Samples-1)
		r.pairs = append(r.pairs, pair{early.price(at), late.price(at + lag)})
	}
}

// A walk goes through stays in order of time.
type walk struct {
	stays []stay
	until float64 // end of those passed
	i     int
}

// price returns the price so many seconds after the first stay began; no call asks for an
// earlier instant than the one before.
func (w *walk) price(at float64) float64 {
	for w.i+1 < len(w.stays) && w.until+w.stays[w.i].seconds <= at {
		w.until += w.stays[w.i].seconds
		w.i++
	}
	return w.stays[w.i].price.Float64()
}

// fit returns the line of least loss. Some such line passes through two of the pairs of
// different x, or is level and passes through one (the vertices of the linear program): all are tried.
func (r *regression) fit(g float64) (a, b float64) {
	r.ys = r.ys[:0]
	for _, p := range r.pairs {
		r.ys = append(r.ys, p.y)
	}
	slices.Sort(r.ys)
	a = r.ys[min(int(math.Ceil(g*float64(len(r.ys))-rounding)), len(r.ys))-1]
	least := r.loss(g, a, 0)
	for i, p := range r.pairs {
		for _, q := range r.pairs[:i] {
			if p.x == q.x {
				continue
			}
			slope := (p.y - q.y) / (p.x - q.x)
			level := p.y - slope*p.x
			if loss := r.loss(g, level, slope); loss < least*(1-rounding) {
				least, a, b = loss, level, slope
			}
		}
	}
	return a, b
}

// loss returns the sum that fit makes least.
func (r *regression) loss(g, a, b float64) (sum float64) {
	for _, p := range r.pairs {
		u := p.y - a - b*p.x
		if u < 0 {
			sum += (g - 1) * u
		} else {
			sum += g * u
		}
	}
	return sum
}
