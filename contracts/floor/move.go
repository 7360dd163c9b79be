package floor

import (
	"math"

	"bourse/contracts"
)

// If a run is not booked, a policy can remove it from all of its hosts and later return it to
// other hosts. The run keeps its number, and its charges so far become arrears, recorded
// separately for each stay of a node on a host.

// Withdraw removes run i from all of its hosts. The work so far counts, unless lose is set. If
// it is set, the work is wasted.
func (f *Floor) Withdraw(now float64, i int32, lose bool) {
	f.now = now
	c := &f.runs[i]
	sum := 0.0
	for n := range c.Placements {
		pl := &c.Placements[n]
		if !pl.Left {
			f.stop(c, i, int32(n))
		}
		if pl.Owed > 0 {
			c.arrears = append(c.arrears, contracts.Placement{Host: pl.Host, Owed: pl.Owed, Charged: pl.Charged})
		}
		if pl.Owed = 0; lose {
			c.Wasted += max(0, pl.Done)
			pl.Done = 0
		}
		sum += pl.Done
	}
	c.Done, c.Rate, c.At = sum, 0, now
	c.spends, c.near = never, false
	c.Suspensions++
	f.change(i)
}

// Return starts run i, which was withdrawn, on the hosts of the given placements. Each node
// first does extra work for restore seconds and then continues its own work. The extra work is
// recorded as a negative amount of work done. The run therefore ends when its own work is
// done.
func (f *Floor) Return(now float64, i int32, on []contracts.Placement, restore float64) error {
	f.now = now
	c := &f.runs[i]
	pace := never
	for n := range on {
		pace = min(pace, f.specs[on[n].Host].Speed)
	}
	f.scratch.placed = append(f.scratch.placed[:0], on...)
	sum := 0.0
	for n := range f.scratch.placed {
		pl := &f.scratch.placed[n]
		extra := pace
		if !c.PerHost { // nodes of a run that is judged as a whole do not wait for the slowest node
			extra = f.specs[pl.Host].Speed
		}
		pl.Done = c.Placements[n].Done - restore*extra
		sum += pl.Done
	}
	c.Done = sum
	return f.put(i, f.scratch.placed)
}

// Rebid replaces the bids of run i, which must be on hosts, with the bids of the given
// placements.
func (f *Floor) Rebid(now float64, i int32, on []contracts.Placement) {
	f.now = now
	c := &f.runs[i]
	for n := range c.Placements {
		if pl := &c.Placements[n]; !pl.Left {
			f.touch(&f.hosts[pl.Host])
			f.raise(i, int32(n), on[n].Bid)
		}
	}
	f.change(i)
}

// Spent returns the charges of run i up to now, in dollars.
func (f *Floor) Spent(now float64, i int32) float64 {
	f.now = now
	spent, _, _ := f.money(i)
	return spent
}

// Adjust gives run i, which must be on hosts, a new service level and the bids of the given
// placements.
func (f *Floor) Adjust(now float64, i int32, sla *contracts.SLA, on []contracts.Placement) {
	f.runs[i].SLA = *sla
	f.Rebid(now, i, on)
	spent, _, bids := f.money(i)
	f.lasts(i, spent, bids)
	f.change(i)
}

// Limit sets the limit of run i.
func (f *Floor) Limit(i int32, until float64) {
	f.runs[i].until = until
	f.change(i)
}

// RunsOut returns the time at which the charges of run i reach its budget if it pays its bids,
// or +Inf if it bids nothing. It computes in nano-dollars. In this unit, budgets, bids and the
// charges of whole seconds are integers, except for rounding. In dollars, rounding could end a
// run whose work costs exactly its budget slightly before its work is done.
func (f *Floor) RunsOut(now float64, i int32) float64 {
	f.now = now
	spent, _, bids := f.money(i)
	switch budget := float64(f.runs[i].SLA.Budget.Micros()) * 1e3; {
	case budget-spent*1e9 <= gone*budget:
		return now
	case bids > 0:
		return now + math.Round((budget-spent*1e9)*1e5)/1e5/float64(bids)
	}
	return never
}
