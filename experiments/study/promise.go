package study

// A promise is a percentile of a price that was foretold, and what has come of it.
type promise struct {
	g, price float64 // $/s; it may be below 0, or above any price

	span  float64 // s for which it was looked at
	under float64 // of these, for which the price was at most that
	loss  float64 // integral of the pinball loss
	paid  float64 // integral of the price
}

// stand lets a price stand for so many seconds.
func (p *promise) stand(price, seconds float64) {
	p.span += seconds
	p.paid += price * seconds
	if price <= p.price {
		p.under += seconds
	}
	p.loss += pinball(p.g, price-p.price) * seconds
}

// pinball returns ρ(u) = u (g - [u < 0]), the loss that the percentile for g makes least, of
// a price that is u above it.
func pinball(g, u float64) float64 {
	if u < 0 {
		return (g - 1) * u
	}
	return g * u
}

// share returns the part of the time for which the price was at most what was foretold.
func (p *promise) share() float64 { return p.under / p.span }

// brier returns the mean of (g - kept)² over that time.
func (p *promise) brier() float64 {
	kept := p.share()
	return kept*(1-p.g)*(1-p.g) + (1-kept)*p.g*p.g
}

// pinball returns the mean loss over that time, of a percentile that is no less than 0 and
// no more than the highest price.
func (p *promise) pinball(highest float64) float64 {
	switch {
	case p.price < 0:
		return p.g * p.paid / p.span
	case p.price > highest:
		return (1 - p.g) * (highest - p.paid/p.span)
	}
	return p.loss / p.span
}
