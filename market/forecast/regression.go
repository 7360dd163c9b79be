package forecast

import (
	"math"
	"slices"

	"bourse/market"
	"bourse/workloadgen/plugin"
)

// A regression forecaster fits the percentile of the price as a linear function of an earlier
// price (quantile regression, Koenker and Bassett 1978). Its samples are pairs (x, y): a price
// x in the window and the price y a lag later. It chooses a and b to minimize
//
//	Σ ρ(y - a - b x), ρ(u) = u (g - [u < 0])
//
// The forecast is F⁻¹(g) = a + b c, where c is the current price. The loss ρ weights a price
// above the line by g and a price below it by 1-g. About the fraction g of the pairs therefore
// lies on or below the line. The forecast can be negative.
type regression struct {
	RegressionOptions
	stays []market.Stay // scratch memory
	pairs []pair        // scratch memory
	ys    []float64
}

// A pair is a price and the price a lag later, in dollars per second.
type pair struct{ x, y float64 }

// RegressionOptions are the options of the forecaster quantile.
type RegressionOptions struct {
	Lag     float64 `yaml:"lag" validate:"gt=0,lt=1" doc:"time between the two prices of a pair, as a part of the window"`
	Samples int     `yaml:"samples" validate:"min=2,max=100" doc:"pairs taken from the window, evenly"`
}

// newRegression returns a regression forecaster with the decoded options.
func newRegression(decode plugin.Decoder) (market.Forecaster, error) {
	o := RegressionOptions{Lag: 0.3, Samples: 30}
	err := decode(&o)
	return &regression{RegressionOptions: o}, err
}

// Percentile implements [market.Forecaster]. If the price was constant over the window, the forecast
// is that price.
func (r *regression) Percentile(h *market.History, now, g float64) float64 {
	r.stays = h.Stays(now, r.stays[:0])
	if len(r.stays) < 2 {
		return h.Price().Float64()
	}
	r.sample(min(now, h.Window()))
	a, b := r.fit(g)
	return a + b*h.Price().Float64()
}

// sample fills pairs with evenly spaced samples of stays, which cover length seconds.
func (r *regression) sample(length float64) {
	lag := r.Lag * length
	r.pairs = r.pairs[:0]
	early, late := walk{stays: r.stays}, walk{stays: r.stays}
	for i := range r.Samples {
		at := (length - lag) * float64(i) / float64(r.Samples-1)
		r.pairs = append(r.pairs, pair{early.price(at), late.price(at + lag)})
	}
}

// A walk reads prices from stays in order of time.
type walk struct {
	stays []market.Stay
	until float64 // end of the stays already passed, in seconds
	i     int
}

// price returns the price at the given number of seconds after the first stay began. The
// argument must not decrease from one call to the next.
func (w *walk) price(at float64) float64 {
	for w.i+1 < len(w.stays) && w.until+w.stays[w.i].Seconds <= at {
		w.until += w.stays[w.i].Seconds
		w.i++
	}
	return w.stays[w.i].Price.Float64()
}

// fit returns the line with the smallest loss. At least one optimal line passes through two
// pairs with different x, or is horizontal and passes through one pair. These lines are the
// vertices of the linear program. fit tries all of them, which is fast enough for at most 100
// samples.
func (r *regression) fit(g float64) (a, b float64) {
	r.ys = r.ys[:0]
	for _, p := range r.pairs {
		r.ys = append(r.ys, p.y)
	}
	slices.Sort(r.ys)
	// Start with the best horizontal line, which lies at the g-quantile of the y values.
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

// loss returns the sum that fit minimizes, for the line y = a + b x.
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
