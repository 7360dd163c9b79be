package packing

import (
	"cmp"
	"slices"
)

// A descent approximates the prices of a part that is too large for a [flow] by subgradient
// steps. A step raises the price of an overfull row and lowers the price of a row with free
// capacity, in proportion to the row's duration. It stops after a fixed number of steps and
// returns the prices with the lowest bound found.
type descent struct {
	span    []float64 // per row: seconds until the next row
	excess  []float64 // per row: nodes wanted at the current prices, minus capacity
	best    []float64 // prices per row
	density []rated
}

// A rated is an item with its value per node-second.
type rated struct{ density, work float64 }

const descents = 200 // number of steps

// price sets the part's prices and its items' gains, and returns a bound.
func (d *descent) price(p *part, capacity int32) (bound float64) {
	d.start(p, capacity)
	bound = p.assess(capacity)
	d.best = append(d.best[:0], p.prices...)
	// The steps aim at this value of the bound. It is raised after each step that fails, and
	// lowered when the bound comes close to it.
	floor := 0.9 * bound
	here := bound
	for range descents {
		var norm float64
		d.want(p, capacity)
		for r, e := range d.excess {
			norm += d.span[r] * e * e
		}
		if norm == 0 {
			break
		}
		step := 0.7 * (here - floor) / norm
		for r, e := range d.excess {
			p.prices[r] = max(0, p.prices[r]+step*d.span[r]*e)
		}
		if here = p.assess(capacity); here < bound {
			bound = here
			copy(d.best, p.prices)
			if floor > 0.999*bound {
				floor = 0.9 * bound
			}
		} else {
			floor += 0.05 * (bound - floor)
		}
	}
	copy(p.prices, d.best)
	return p.assess(capacity)
}

// start sets the same price for every second. It chooses the price at which the items worth
// more would exactly fill all rows if they could be spread evenly.
func (d *descent) start(p *part, capacity int32) {
	first, last := p.items[0].arrival, p.items[len(p.items)-1].arrival
	mean := 1.0 // used for the last row, which has no successor
	if p.rows > 1 {
		mean = (last - first) / float64(p.rows)
	}
	d.span = d.span[:0]
	var room float64
	for r := range p.rows {
		span := mean
		if r+1 < p.rows {
			span = p.items[p.starts[r+1]].arrival - p.items[p.starts[r]].arrival
		}
		d.span = append(d.span, span)
		room += span * float64(capacity)
	}
	d.density = d.density[:0]
	for _, it := range p.items {
		work := float64(it.nodes) * (it.end - it.arrival)
		d.density = append(d.density, rated{it.value / work, work})
	}
	slices.SortFunc(d.density, func(a, b rated) int { return cmp.Compare(b.density, a.density) })
	var rate float64
	for _, j := range d.density {
		if room -= j.work; room < 0 {
			rate = j.density
			break
		}
	}
	p.prices = p.prices[:0]
	for _, s := range d.span {
		p.prices = append(p.prices, rate*s)
	}
}

// want sets the excess of each row from the items that gain. The excess is 0 if the row has
// free capacity but its price cannot fall.
func (d *descent) want(p *part, capacity int32) {
	d.excess = zeroed(d.excess, int(p.rows)+1)
	for _, it := range p.items {
		if it.gain > 0 {
			d.excess[it.first] += float64(it.nodes)
			d.excess[it.last+1] -= float64(it.nodes)
		}
	}
	var used float64
	for r := range d.excess[:p.rows] {
		used += d.excess[r]
		d.excess[r] = used - float64(capacity)
		if d.excess[r] < 0 && p.prices[r] == 0 {
			d.excess[r] = 0
		}
	}
	d.excess = d.excess[:p.rows]
}
