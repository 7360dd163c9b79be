package floor

import (
	"bourse/contracts"
	"bourse/market"
)

// A contract that has spent its budget has no weight in the auction. From that time it bids
// nothing: prices exclude its former bids, and it receives only the capacity that paying
// contracts do not use. A contract that loses work for which it is not charged may have money
// again. In that case, the floor restores its former bids.
//
// A contract never pays more than its bids. Its remaining money divided by the sum of its bids
// is therefore the shortest time in which the money can be spent. No check is needed before
// then. Usually that time is the deadline. For example, $3 with bids of $0.001/s lasts at
// least 3,000 s.
//
// If a run continues after this time, the floor monitors its spending. Whenever the rate of
// spending changes on a host of the run, the floor recomputes the time at which the money runs
// out. The computation uses the charges accrued on all hosts of the run and their current
// rates. On metered hosts the check waits for the next report, because the money is spent only
// when the measured usage reaches the budget.

// atBid is the maximum amount by which rounding changes a bid, in dollars per second per node:
// see [Floor.Renew].
const atBid = 1e-11

// gone is the maximum fraction of a budget that may remain, because of rounding, when the
// budget counts as spent.
const gone = 1e-12

// money returns the amount that run i has spent up to now in dollars, its current rate of
// spending in dollars per second, and the sum of its bids.
//
// Simulated hosts may not have been metered up to now. money adds the charges since the last
// event of a host, so that a check of one run need not meter all of its hosts.
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

// lasts enters the time of the next check of the money of run i. The argument spent is the
// amount spent in dollars, and bids is the sum of the new bids. If the money was planned to
// last until the deadline, the check is at the deadline or later. Without this rule, rounding
// could make the money run out slightly too early.
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

// spend checks the money of run i. If no money is left, the run's bids become 0. Otherwise the
// spending of the run is monitored from now on. Monitoring does not start earlier, because
// most runs end before they could have spent their budget.
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
		if c.reads && c.At < f.now { // wait until the hosts of the run report its spending
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
	f.emit(Spent, i)
}

// runsOut returns the time at which run i will have spent its budget if nothing changes, or
// +Inf if it accrues no charges at present. Remaining money within the rounding error of the
// budget counts as spent. Without this rule, rounding could cause many checks in succession.
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

// watch marks the runs on v whose spending is monitored, because their rate of spending may
// have changed.
func (f *Floor) watch(v *host) {
	for at := range v.on {
		if i := v.on[at].Contract; f.runs[i].near {
			f.change(i)
		}
	}
}

// far stops monitoring the money of c.
func (f *Floor) far(c *run) {
	c.near = false
	for n := range c.Placements {
		if pl := &c.Placements[n]; !pl.Left {
			f.hosts[pl.Host].near--
		}
	}
}

// refund restores the bids of run i if it has money again because a node was lost and its
// charges were dropped. It also enters the time of the next check.
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
