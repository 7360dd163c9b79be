package study

// A promise is a predicted price percentile, with the statistics of the prices observed
// since.
type promise struct {
	g, price float64 // $/s; it may be below 0, or above any price

	span  float64 // s of observation
	under float64 // s in which the price was at most the percentile
	loss  float64 // integral of the pinball loss
	paid  float64 // integral of the price
}

// stand observes a price for the given number of seconds.
func (p *promise) stand(price, seconds float64) {
	p.span += seconds
	p.paid += price * seconds
	if price <= p.price {
		p.under += seconds
	}
	p.loss += pinball(p.g, price-p.price) * seconds
}

// pinball returns the pinball loss ρ(u) = u (g - [u < 0]) of a price that is u above the
// forecast. The percentile for g minimizes its expectation.
func pinball(g, u float64) float64 {
	if u < 0 {
		return (g - 1) * u
	}
	return g * u
}

// share returns the fraction of the time in which the price was at most the forecast.
func (p *promise) share() float64 { return p.under / p.span }

// brier returns the mean of (g - realized)² over that time.
func (p *promise) brier() float64 {
	kept := p.share()
	return kept*(1-p.g)*(1-p.g) + (1-kept)*p.g*p.g
}

// pinball returns the mean loss over that time of the percentile, limited to between 0 and
// the highest price.
func (p *promise) pinball(highest float64) float64 {
	switch {
	case p.price < 0:
		return p.g * p.paid / p.span
	case p.price > highest:
		return (1 - p.g) * (highest - p.paid/p.span)
	}
	return p.loss / p.span
}
