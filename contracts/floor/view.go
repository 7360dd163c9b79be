package floor

import (
	"math"
	"slices"

	"bourse/contracts"
	"bourse/hosts"
	"bourse/hosts/availability"
	"bourse/market"
)

var never = math.Inf(1)

var _ contracts.View = (*Floor)(nil)

// Fleet returns the number of hosts.
func (f *Floor) Fleet() int { return len(f.hosts) }

// Spec returns the specification of h.
func (f *Floor) Spec(h hosts.ID) *hosts.Spec { return f.specs[h] }

// Capacity returns the work per second of all processors of h together.
func (f *Floor) Capacity(h hosts.ID) float64 { return f.hosts[h].rated.capacity }

// Room returns the resources of h that no task has reserved.
func (f *Floor) Room(h hosts.ID) hosts.Resources { return f.Machines[h].Room() }

// Price returns the spot price of h: the sum of all bids on it.
func (f *Floor) Price(h hosts.ID) market.Rate { return f.hosts[h].auction.Price() }

// Percentile returns F⁻¹(g) of h in dollars per second (eq. 5), or the floor price of the
// whole host if that is higher. It requires a Forecast.
func (f *Floor) Percentile(h hosts.ID, g float64) float64 {
	return f.percentile(f.hosts[h].auction.History(), h, hosts.CPU, g)
}

// percentile returns the percentile of the price of kind k on h, computed from the price
// history. The result is never below the floor price of all units of kind k on h.
func (f *Floor) percentile(past *market.History, h hosts.ID, k hosts.Kind, g float64) float64 {
	all := f.specs[h].CPUs
	if k != hosts.CPU {
		all = f.specs[h].Room.Of(k)
	}
	return max(f.Forecast.Percentile(past, f.now, g), f.floors[h][k]*all)
}

// On returns the tasks on h, in order of admission.
func (f *Floor) On(h hosts.ID) []contracts.Allocation { return f.hosts[h].on }

// Contract returns the contract with the number given in an Allocation. The result is also
// valid for a run that has just been removed.
func (f *Floor) Contract(i int32) *contracts.Contract { return &f.runs[i].Contract }

// Unavailable reports whether h has left or accepts no more tasks.
func (f *Floor) Unavailable(h hosts.ID) bool { return f.hosts[h].away || f.hosts[h].shut }

// Stays returns the predicted probability that h stays for span seconds. Without a predictor or
// histories, the result is 1.
func (f *Floor) Stays(h hosts.ID, span float64) float64 {
	p := f.Availability
	if p == nil || p.Predictor == nil || p.Histories == nil || !(span > 0) {
		return 1
	}
	return p.Predictor.Stays(p.Histories[h], f.now, span)
}

// History returns the times at which h was and will be available, or nil without histories.
func (f *Floor) History(h hosts.ID) *availability.History {
	if f.Availability == nil || f.Availability.Histories == nil {
		return nil
	}
	return f.Availability.Histories[h]
}

// Changed returns the hosts that have changed since the previous call, each once. A host
// changes if it arrives or leaves, or if its tasks or bids change.
func (f *Floor) Changed() []hosts.ID {
	if f.news.old {
		return nil
	}
	f.news.old = true
	return f.news.hosts
}

// Cheapest appends to out the r.Nodes hosts with the lowest prices among those that are
// available and have room for a node of r. The result may have fewer hosts. Ties are broken at
// random.
//
// If r has no requirements and hosts never leave, every host is eligible, and Cheapest skips
// the test of each host.
func (f *Floor) Cheapest(r *contracts.Request, out []hosts.ID) []hosts.ID {
	var eligible func(int32) bool
	if !r.Needs.Min.Resources.Zero() || f.Availability != nil || f.whole {
		eligible = func(h int32) bool { return contracts.Eligible(hosts.ID(h), r, f) }
	}
	if f.scratch.ranked = f.scratch.ranked[:0]; r.ClaimsHeld(f.Resources) {
		f.cheapestFor(r)
	} else {
		f.scratch.ranked = f.ranking.Cheapest(r.Nodes, f.Ties, eligible, f.scratch.ranked)
	}
	out = slices.Grow(out, len(f.scratch.ranked))
	for _, h := range f.scratch.ranked {
		out = append(out, hosts.ID(h))
	}
	return out
}

// Peek returns the time of the next event of run i if nothing changes, and the contract of the
// run.
func (f *Floor) Peek(i int32) (next float64, c *contracts.Contract) {
	f.allocate()
	return f.runs[i].next, &f.runs[i].Contract
}
