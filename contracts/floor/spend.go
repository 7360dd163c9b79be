package floor

import (
	"bourse/contracts"
	"bourse/market"
)

// A contract that has spent its budget has no weight in the auction. From that time it bids
// nothing: prices do not include it, and it gets only what paying contracts leave. If it loses
// work that is not charged, it may have money again. It then restores its former bids.
//
// A contract never pays more than its bids. The remaining money divided by the sum of its bids
// is therefore the shortest time for which the money lasts, and no check is needed before then.
// Usually this time is the deadline. For example, $3 left and bids of $0.001/s last at least
// 3,000 s.
//
// If a run continues after this time, the floor monitors it. Whenever its rate of spending
// changes on one of its hosts, the floor recomputes the time at which its money runs out. It
// uses the charges accrued on all of the hosts and their current rates. On metered hosts the
// check waits for their next report, because the run has spent its money only when the measured
// usage reaches the budget.

// atBid is the most by which rounding changes a bid, in dollars per second per node: see
// [Floor.Renew].
const atBid = 1e-11

// gone is the largest fraction of a budget that may remain, because of rounding, when a run
// counts as having spent the budget.
const gone = 1e-12

// money returns the amount that run i has spent up to now in dollars, its current rate of
// spending in dollars per second, and the sum of its bids.
//
// Simulated hosts may not have been metered up to now. Their charges since the last event are
// added here, so that a check of one run need not meter all of its hosts.
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

// lasts enters the time of the next check of run i's money. The run has spent the given
// dollars, and bids is the sum of its new bids. If the money was planned to last until the
// deadline, the check is not earlier than the deadline. Rounding could otherwise make the money
// run out slightly early.
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

// spend checks the money of run i. If it is spent, the run's bids become 0; otherwise the run
// is monitored from now on. Monitoring does not start earlier, because most runs end before
// they can have spent their budget.
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
		if c.reads && c.At < f.now { // wait until its hosts report its spending
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
// +Inf if it is not charged at present. Remaining money within the rounding error of the
// budget counts as spent, because otherwise rounding could cause many checks in a row.
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

// watch marks the runs on v with monitored spending, because their rate may have changed.
func (f *Floor) watch(v *host) {
	for at := range v.on {
		if i := v.on[at].Contract; f.runs[i].near {
			f.change(i)
		}
	}
}

// far stops the monitoring of c.
func (f *Floor) far(c *run) {
	c.near = false
	for n := range c.Placements {
		if pl := &c.Placements[n]; !pl.Left {
			f.hosts[pl.Host].near--
		}
	}
}

// refund restores the bids of run i if it has money again, because a node was lost and its
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
