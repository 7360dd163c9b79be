package study

// A promise is a predicted price percentile, with statistics of the prices observed since the
// prediction.
type promise struct {
	g, price float64 // price in $/s, which may be negative or above any observed price

	span  float64 // duration of the observation in seconds
	under float64 // time in seconds in which the price was at most the percentile
	loss  float64 // integral of the pinball loss over time
	paid  float64 // integral of the price
}

// stand adds a price that was in force for the given number of seconds.
func (p *promise) stand(price, seconds float64) {
	p.span += seconds
	p.paid += price * seconds
	if price <= p.price {
		p.under += seconds
	}
	p.loss += pinball(p.g, price-p.price) * seconds
}

// pinball returns the pinball loss ρ(u) = u (g - [u < 0]) if the price exceeds the forecast
// by u. The g-percentile minimizes the expected loss.
func pinball(g, u float64) float64 {
	if u < 0 {
		return (g - 1) * u
	}
	return g * u
}

// share returns the fraction of time in which the price was at most the forecast.
func (p *promise) share() float64 { return p.under / p.span }

// brier returns the mean of (g - realized)² over the observed time.
func (p *promise) brier() float64 {
	kept := p.share()
	return kept*(1-p.g)*(1-p.g) + (1-kept)*p.g*p.g
}

// pinball returns the mean pinball loss over the observed time. The percentile is limited
// to the range from 0 to the highest price.
func (p *promise) pinball(highest float64) float64 {
	switch {
	case p.price < 0:
		return p.g * p.paid / p.span
	case p.price > highest:
		return (1 - p.g) * (highest - p.paid/p.span)
	}
	return p.loss / p.span
}
