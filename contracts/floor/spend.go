package floor

import (
	"bourse/contracts"
	"bourse/market"
)

// A contract whose money is gone has no weight in the auction: from that moment it bids
// nothing, so that prices do not count it and it gets what those who pay leave. It may have
// money again where work is lost that is not charged: then it bids again what it bid.
//
// Nobody is charged more than he bids. So the money of a run lasts, at least, for what is left
// of it over all its bids, and until then nothing is looked at. As a rule that is until its
// deadline. A run that goes on after that instant is watched: whenever the rate at which it
// spends changes on one of its hosts, the moment at which its money is gone is computed anew,
// from what has accrued on all of its hosts and what accrues there now. On hosts that are
// metered, that is only when they may have something to tell: its money is gone when what they
// have measured comes to the budget.

// atBid is how much of a bid, in dollars per second and node, is rounding: see [Floor.Renew].
const atBid = 1e-11

// gone is the part of its budget that a run whose money is gone may have left, by rounding.
const gone = 1e-12

// money returns what run i has spent up to now and spends per second, in dollars, and its bids.
func (f *Floor) money(i int32) (spent, rate float64, bids market.Rate) {
	c := &f.runs[i]
	for _, a := range c.arrears {
		spent += a.Owed
	}
	for n := range c.Placements {
		pl := &c.Placements[n]
		if pl.Left {
			spent += pl.Owed
			continue
		}
		v := &f.hosts[pl.Host]
		s := &v.on[v.find(i, int32(n))]
		spent += s.Owed
		if !v.reads {
			spent += s.Paying * (f.now - v.at)
		}
		rate += s.Paying
		bids += s.Bid
	}
	return spent, rate, bids
}

// lasts enters when the money of run i, which bids that anew and has spent so much, in dollars,
// is looked at. Bids that were meant to last until the deadline do, whatever their rounding.
func (f *Floor) lasts(i int32, spent float64, bids market.Rate) {
	if !f.rule.bids {
		return
	}
	c := &f.runs[i]
	if c.spends = never; c.near {
		f.far(c)
	}
	left, due, rate := c.SLA.Budget.Float64()-spent, c.Due(), bids.Float64()
	at, span := f.now+left/rate, due-f.now
	if at < due+4*contracts.Moment(due) && (rate-atBid*float64(len(c.Placements)))*span <= left*(1+contracts.Tolerance) {
		at = due
	}
	if at < due || c.SLA.GoesOn() {
		c.spends = max(at, f.now)
	}
}

// spend looks at the money of run i, which may be gone.
func (f *Floor) spend(i int32) {
	c := &f.runs[i]
	if !c.near {
		c.near = true
		for n := range c.Placements {
			if pl := &c.Placements[n]; !pl.Left {
				f.hosts[pl.Host].near++
			}
		}
	}
	if f.runsOut(i) > f.now {
		if c.reads && c.At < f.now { // until its hosts tell what it has spent
			c.spends = never
			enter(&f.heaps.ends, i, &c.next, c.until)
		} else {
			f.expect(i)
		}
		return
	}
	f.far(c)
	c.spends = never
	for n := range c.Placements {
		if pl := &c.Placements[n]; !pl.Left {
			f.touch(&f.hosts[pl.Host])
			f.raise(i, int32(n), 0)
		}
	}
	f.change(i)
	f.tell(Spent, i)
}

// runsOut returns when the money of run i is gone, if nothing changes.
func (f *Floor) runsOut(i int32) float64 {
	budget := f.runs[i].SLA.Budget.Float64()
	spent, rate, _ := f.money(i)
	switch left := budget - spent; {
	case left <= gone*budget:
		return f.now
	case rate > 0:
		return f.now + left/rate
	}
	return never
}

// watch marks the runs on v whose spending is watched: it may have changed.
func (f *Floor) watch(v *host) {
	for at := range v.on {
		if i := v.on[at].Contract; f.runs[i].near {
			f.change(i)
		}
	}
}

// far lets c be watched no more.
func (f *Floor) far(c *run) {
	c.near = false
	for n := range c.Placements {
		if pl := &c.Placements[n]; !pl.Left {
			f.hosts[pl.Host].near--
		}
	}
}

// refund looks at run i, a node of which is lost and not charged: it may have money again.
func (f *Floor) refund(i int32) {
	c := &f.runs[i]
	if f.charged() || !f.rule.bids {
		return
	}
	spent, _, bids := f.money(i)
	if bids == 0 && spent < c.SLA.Budget.Float64()*(1-gone) {
		for n := range c.Placements {
			if pl := &c.Placements[n]; !pl.Left {
				f.touch(&f.hosts[pl.Host])
				f.raise(i, int32(n), pl.Bid)
				bids += pl.Bid
			}
		}
	}
	if bids > 0 {
		f.lasts(i, spent, bids)
	}
}
