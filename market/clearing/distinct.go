package clearing

import (
	"cmp"
	"slices"

	"bourse/market"
)

// A distinct assigns units to bids if a host has several units. A bid obtains at most one unit
// of each host.
type distinct struct {
	sellers []seller
	of      []int // by ask: index of its seller
	queue   []int // asks by seller, each seller's by ascending price
	choice  []int // sellers
	first   []int // by bid: position in units of its first unit
	units   []int // asks that bids obtain, by bid
}

// A seller is a host with the units that it sells. Its asks are queue[next:end].
type seller struct{ first, next, end int }

// several reports whether a host has several units.
func (d *distinct) several(b *Book) bool {
	for i := range max(1, len(b.Asks)) - 1 {
		if b.Asks[i].Host > 0 && b.Asks[i].Host == b.Asks[i+1].Host {
			return true
		}
	}
	return false
}

// spread assigns to each bid in turn the cheapest units of distinct hosts, if the bid's price
// is at least the highest ask of all units sold so far. Among units at the same price, the
// sellers with the most units left come first, so that bids for many units still fit. Equal
// sellers are taken in order.
func (d *double) spread(b *Book, r *Result) {
	d.read(b, d.asks)
	r.Takers = zeroed(r.Takers, len(b.Asks))
	d.first, d.units = zeroed(d.first, len(b.Bids)), d.units[:0]
	highest := market.Rate(0)
	for i := range d.bids {
		bid := d.bids[i].at
		n := b.Bids[bid].Units
		if d.bids[i].price < highest || !d.cheapest(b, n, d.bids[i].price) {
			continue
		}
		d.first[bid] = len(d.units)
		for _, s := range d.choice[:n] {
			ask := d.queue[d.sellers[s].next]
			d.sellers[s].next++
			highest = max(highest, b.Asks[ask].Price)
			d.units = append(d.units, ask)
			r.Takers[ask] = bid + 1
		}
		r.award(bid, n)
	}
	d.stay(b, r)
	for a, taker := range r.Takers {
		r.Sold[a] = taker > 0
	}
}

// read finds the sellers of b and their asks.
func (d *distinct) read(b *Book, asks []ranked) {
	d.sellers, d.of, d.queue = d.sellers[:0], zeroed(d.of, len(b.Asks)), zeroed(d.queue, len(b.Asks))
	for i := range b.Asks {
		if i == 0 || b.Asks[i].Host != b.Asks[i-1].Host {
			d.sellers = append(d.sellers, seller{i, i, i})
		}
		d.of[i] = len(d.sellers) - 1
	}
	for _, a := range asks {
		s := &d.sellers[d.of[a.at]]
		d.queue[s.end] = a.at
		s.end++
	}
}

// cheapest puts the n sellers with the cheapest units up to the given price at the beginning of
// choice. It reports whether there are n.
func (d *distinct) cheapest(b *Book, n int, price market.Rate) bool {
	d.choice = d.choice[:0]
	for s := range d.sellers {
		if x := &d.sellers[s]; x.next < x.end && b.Asks[d.queue[x.next]].Price <= price {
			d.choice = append(d.choice, s)
		}
	}
	if n > len(d.choice) {
		return false
	}
	slices.SortFunc(d.choice, func(s, t int) int {
		x, y := &d.sellers[s], &d.sellers[t]
		return cmp.Or(cmp.Compare(b.Asks[d.queue[x.next]].Price, b.Asks[d.queue[y.next]].Price), (y.end-y.next)-(x.end-x.next), s-t)
	})
	return true
}

// stay exchanges units, so that winners keep units of the sellers on which their jobs run. It
// exchanges a sold unit only for an unsold one at the same price.
func (d *distinct) stay(b *Book, r *Result) {
	for a := range b.Asks {
		bid := int(b.Asks[a].On) - 1
		if bid < 0 || r.Units[bid] == 0 || d.any(d.of[a], func(x int) bool { return r.Takers[x] == bid+1 }) {
			continue
		}
		units := d.units[d.first[bid]:][:r.Units[bid]]
		for k, u := range units {
			if d.runs(b, bid, d.of[u]) {
				continue
			}
			if x, ok := d.exchange(b, r, u, d.of[a]); ok {
				units[k] = x
				break
			}
		}
	}
}

// exchange finds an ask of seller s that can replace the sold ask u for the bid that obtains u.
// The ask must be unsold at the same price, or its bid must not run on s and be able to obtain
// u instead. If there is none, ok is false.
func (d *distinct) exchange(b *Book, r *Result, u, s int) (ask int, ok bool) {
	for x := d.sellers[s].first; x < len(b.Asks) && d.of[x] == s; x++ {
		other := r.Takers[x] - 1
		switch {
		case other < 0 && b.Asks[x].Price != b.Asks[u].Price:
			continue
		case other >= 0:
			if d.runs(b, other, s) || d.any(d.of[u], func(y int) bool { return r.Takers[y] == other+1 }) {
				continue
			}
			units := d.units[d.first[other]:][:r.Units[other]]
			units[slices.Index(units, x)] = u
		}
		r.Takers[x], r.Takers[u] = r.Takers[u], other+1
		return x, true
	}
	return 0, false
}

// runs reports whether the job of a bid runs on a unit of s.
func (d *distinct) runs(b *Book, bid, s int) bool {
	return d.any(s, func(x int) bool { return int(b.Asks[x].On) == bid+1 })
}

// any reports whether yes returns true for an ask of s.
func (d *distinct) any(s int, yes func(ask int) bool) bool {
	for x := d.sellers[s].first; x < len(d.of) && d.of[x] == s; x++ {
		if yes(x) {
			return true
		}
	}
	return false
}
