package floor

import (
	"cmp"
	"slices"

	"bourse/contracts"
	"bourse/hosts"
	"bourse/market"
)

// A market may price held resources in addition to processors: see [contracts.Vector]. Each
// host then has an additional auction for each of these resources. As in other markets,
// host.auction is the auction of the processors. It contains only the parts of bids that are
// for processors.

// claim returns the vector of a task of c that bids b and holds resources on v. It returns nil
// if the task claims no priced resource other than processors and holds no resource or
// licence with a floor price.
func (f *Floor) claim(v *host, c *run, holds *hosts.Resources, b market.Rate) *contracts.Vector {
	spec := f.specs[v.id]
	claims := contracts.ClaimsOn(spec, c.Needs.Max.CPU, holds, f.Resources)
	least := f.floors[v.id].Held(holds) + c.LicenceFloor
	only := contracts.Claims{}
	if only.Of[hosts.CPU] = claims.Of[hosts.CPU]; claims == only && least == 0 {
		return nil
	}
	vector := contracts.Vector{Claims: claims, Floor: least}
	if !f.Promised {
		vector.Met = f.pricesOf(v)
	}
	if v.reads {
		vector.Charged = new(contracts.Charged)
		for k := hosts.Memory; k < hosts.Kinds; k++ {
			vector.Charged.Least[k] = f.floors[v.id][k] * holds.Of(k)
		}
		vector.Charged.Least[contracts.OfLicences] = c.LicenceFloor
	}
	return vector.With(b)
}

// pricesOf returns the prices of v.
func (f *Floor) pricesOf(v *host) (p Prices) {
	p[hosts.CPU] = v.auction.Price()
	for i, k := range f.Resources {
		p[k] = v.others[i].Price()
	}
	return p
}

// bidOthers replaces the bids of an old vector (was) with the bids of a new vector (is) in all
// auctions of v except the auction of processors. A nil vector has no bids.
func (f *Floor) bidOthers(v *host, was, is *contracts.Vector) {
	var from, to Prices
	if was != nil {
		from = was.Bids
	}
	if is != nil {
		to = is.Bids
	}
	for i, k := range f.Resources {
		if from[k] != to[k] {
			v.others[i].Bid(f.now, from[k], to[k])
		}
	}
}

// A met is a host that is eligible for a request, with the price that the request would pay on
// the host.
type met struct {
	price market.Rate
	tie   uint64 // random number that breaks ties
	host  hosts.ID
}

// cheapestFor appends to f.scratch.ranked the hosts for [Floor.Cheapest], for a request that
// claims a priced resource. The dominant resource can differ between hosts, so no single price
// orders the hosts, and cheapestFor examines each eligible host.
func (f *Floor) cheapestFor(r *contracts.Request) {
	all := f.scratch.met[:0]
	for h := range hosts.ID(len(f.hosts)) {
		if contracts.Eligible(h, r, f) {
			all = append(all, met{contracts.Meets(h, r, f), f.Ties.Uint64(), h})
		}
	}
	slices.SortFunc(all, func(a, b met) int {
		return cmp.Or(cmp.Compare(a.price, b.price), cmp.Compare(a.tie, b.tie), cmp.Compare(a.host, b.host))
	})
	for _, m := range all[:min(r.Nodes, len(all))] {
		f.scratch.ranked = append(f.scratch.ranked, int32(m.host))
	}
	f.scratch.met = all
}

// PricesHeld reports whether a resource other than processors has a price or a floor price on
// any host.
func (f *Floor) PricesHeld() bool { return f.vectors }

// Priced implements [contracts.View].
func (f *Floor) Priced() []hosts.Kind { return f.Resources }

// KindName implements [contracts.View].
func (f *Floor) KindName(k hosts.Kind) string { return k.Name(f.Counts) }

// PriceOf implements [contracts.View].
func (f *Floor) PriceOf(h hosts.ID, k hosts.Kind) market.Rate { return f.auction(h, k).Price() }

// auction returns the auction of kind k on h.
func (f *Floor) auction(h hosts.ID, k hosts.Kind) *market.Auctioneer {
	v := &f.hosts[h]
	if k == hosts.CPU {
		return &v.auction
	}
	return &v.others[slices.Index(f.Resources, k)]
}

// PercentileOf implements [contracts.View]. It requires a Forecast.
func (f *Floor) PercentileOf(h hosts.ID, k hosts.Kind, g float64) float64 {
	return f.percentile(f.auction(h, k).History(), h, k, g)
}

// Floors implements [contracts.View].
func (f *Floor) Floors(h hosts.ID) *hosts.Floor {
	if !f.floored {
		return nil
	}
	return &f.floors[h]
}
