package floor

import (
	"math/rand/v2"
	"slices"

	"bourse/contracts"
	"bourse/hosts"
)

// A trial is a view of a floor in which a policy can make a trial decision. Reading a trial
// does not change the floor, its price histories or its random numbers.
type trial struct {
	*Floor
	ties *rand.Rand
}

// Trial returns a view of f at now, a time before the next event. Ties are broken by the given
// random numbers. The view is valid until the next change of f.
func (f *Floor) Trial(now float64, ties *rand.Rand) contracts.View {
	f.MoveTo(now)
	return trial{f, ties}
}

// Percentile implements [contracts.View].
func (t trial) Percentile(h hosts.ID, g float64) float64 {
	return t.PercentileOf(h, hosts.CPU, g)
}

// PercentileOf implements [contracts.View].
func (t trial) PercentileOf(h hosts.ID, k hosts.Kind, g float64) float64 {
	past := t.auction(h, k).History().Snapshot()
	return t.percentile(&past, h, k, g)
}

// Cheapest implements [contracts.View].
func (t trial) Cheapest(r *contracts.Request, out []hosts.ID) []hosts.ID {
	was := t.Ties
	t.Ties = t.ties
	out = t.Floor.Cheapest(r, out)
	t.Ties = was
	return out
}

// Changed implements [contracts.View]. Repeated calls return the same hosts.
func (t trial) Changed() []hosts.ID {
	was := t.news.old
	changed := t.Floor.Changed()
	t.news.old = was
	return changed
}

// Expect returns the allocation of a task of r that is placed now on the host of pl, where it would
// be the only task of r. The host must be available, and the sharing rule must be a
// [sharing.FixedShares]. Expect does not change f.
func (f *Floor) Expect(r *contracts.Request, pl *contracts.Placement) contracts.Allocation {
	v, m := &f.hosts[pl.Host], f.Machines[pl.Host]
	spec, c := m.Spec(), run{Contract: contracts.Contract{Request: *r}}
	held := r.Needs.Holds(spec, m.Room())
	s := contracts.Allocation{Bid: pl.Bid, Met: v.auction.Price(), Of: int32(r.Nodes), Vector: f.claim(v, &c, &held, pl.Bid)}
	if f.Promised {
		s.Met = pl.Promised
	}
	s.Share = f.shared(&c, pl, s.Own())
	s.Claim = spec.Usable(s.Share.Limit)
	on, prices := append(slices.Clone(v.on), s), f.pricesOf(v)
	prices[hosts.CPU] += s.Own()
	if s.Vector != nil {
		for _, k := range f.Resources {
			prices[k] += s.Vector.Bids[k]
		}
	}
	var shares []hosts.Share
	for i := range on {
		shares = append(shares, on[i].Share)
	}
	gets := make([]float64, len(on))
	hosts.Divide(spec.CPUs, spec.Cap, shares, gets)
	for i := range on {
		on[i].Rate = gets[i] * spec.Speed
	}
	f.charge(v, on, prices)
	return on[len(on)-1]
}
