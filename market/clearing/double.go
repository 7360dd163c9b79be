package clearing

import (
	"cmp"
	"math"
	"slices"

	"bourse/market"
)

// A double is the k-double auction, generalized to all-or-nothing bids for several units
// (Satterthwaite, Williams, "Bilateral trade with the sealed bid k-double auction", 1989). All
// winners pay the same price.
//
// A bid for several units obtains units of distinct hosts. If a host has several units, bids
// can therefore lose although enough units are left.
type double struct {
	DoubleOptions
	bids []ranked
	asks []ranked
	distinct
}

// DoubleOptions are the options of double.
type DoubleOptions struct {
	K float64 `yaml:"k" validate:"min=0,max=1" doc:"position of the price between the lowest (0) and the highest (1) that clears"`
}

// A ranked is a bid or an ask with the price by which it is ranked.
type ranked struct {
	price market.Rate
	at    int
}

// NewDouble returns the k-double auction.
func NewDouble(o DoubleOptions) Mechanism { return &double{DoubleOptions: o} }

// Clear implements [Mechanism]. Clear takes O(n log n) time for n asks and bids.
func (d *double) Clear(b *Book, r *Result) error {
	r.reset(b)
	if len(b.Asks) == 0 {
		return nil
	}
	d.rank(b)

	if d.several(b) {
		d.spread(b, r)
	} else {
		d.take(b, r)
	}
	if !r.Traded {
		r.Price = d.asks[0].price
		return nil
	}

	lowest := b.Bids[r.Order[len(r.Order)-1]].Price // price of the lowest winning bid
	r.Low, r.High = 0, lowest
	for i := range b.Asks {
		if r.Sold[i] {
			r.Low = max(r.Low, b.Asks[i].Price)
		}
	}
	for i := range d.bids {
		if p := d.bids[i].price; r.Units[d.bids[i].at] == 0 && p <= lowest {
			r.Low = max(r.Low, p)
			break
		}
	}
	for _, a := range d.asks {
		if !r.Sold[a.at] && a.price >= r.Low {
			r.High = min(r.High, a.price)
			break
		}
	}
	r.Price = r.Low + market.Rate(math.Floor(d.K*float64(r.High-r.Low)))
	return nil
}

// take assigns the next asks to each bid in turn, if enough asks are left and the bid's price
// is at least the highest price of these asks.
func (d *double) take(b *Book, r *Result) {
	taken := 0
	for i := range d.bids {
		n := b.Bids[d.bids[i].at].Units
		if n <= len(d.asks)-taken && d.bids[i].price >= d.asks[taken+n-1].price {
			taken += n
			r.award(d.bids[i].at, n)
		}
	}
	if r.Traded {
		d.sell(b, r, taken)
	}
}

// rank sorts the bids by descending price and the asks by ascending price. Bids of equal price
// are sorted by whether their job is running, then by submission time, then by number. Equal
// asks are sorted by host.
func (d *double) rank(b *Book) {
	d.bids, d.asks = d.bids[:0], d.asks[:0]
	for i := range b.Bids {
		if b.Bids[i].Units > 0 {
			d.bids = append(d.bids, ranked{b.Bids[i].Price, i})
		}
	}
	for i := range b.Asks {
		d.asks = append(d.asks, ranked{b.Asks[i].Price, i})
	}
	slices.SortFunc(d.bids, func(x, y ranked) int {
		if x.price != y.price {
			return cmp.Compare(y.price, x.price)
		}
		p, q := &b.Bids[x.at], &b.Bids[y.at]
		switch {
		case p.Running != q.Running && p.Running:
			return -1
		case p.Running != q.Running:
			return 1
		case p.Submit != q.Submit:
			return cmp.Compare(p.Submit, q.Submit)
		}
		return cmp.Compare(p.ID, q.ID)
	})
	slices.SortFunc(d.asks, func(x, y ranked) int {
		if x.price != y.price {
			return cmp.Compare(x.price, y.price)
		}
		return x.at - y.at
	})
}

// sell marks the cheapest asks as sold. Among the units at the highest price sold, the units
// on which winners run are sold first.
func (d *double) sell(b *Book, r *Result, taken int) {
	last := d.asks[taken-1].price
	for _, winners := range []bool{true, false} {
		for i := 0; i < len(d.asks) && d.asks[i].price <= last; i++ {
			a := &b.Asks[d.asks[i].at]
			wins := a.Price < last || a.On > 0 && r.Units[a.On-1] > 0
			if wins == winners && taken > 0 {
				r.Sold[d.asks[i].at] = true
				taken--
			}
		}
	}
}
