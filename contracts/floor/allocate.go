package floor

import (
	"bourse/contracts"
	"bourse/hosts"
)

// MoveTo advances f to now, a time before the next event. It first reallocates the marked
// hosts, so that callers can read f as a view at that time.
func (f *Floor) MoveTo(now float64) {
	if f.stale() {
		f.allocate()
	}
	f.now = now
}

// Amid moves f to now between two actions at the same time. If shares are fixed, it does
// nothing, because no time passes between the actions and the reallocation can be postponed.
// Under other rules it reallocates, because the next action depends on the shares that result
// from the previous action.
func (f *Floor) Amid(now float64) {
	if f.rule.fixed == nil {
		f.MoveTo(now)
	}
}

// stale reports whether any host or run is marked and must be processed before time advances.
func (f *Floor) stale() bool { return len(f.marks.touched)+len(f.marks.changed) > 0 }

// TouchAll marks every host for reallocation, as if a task had started or ended there. Tests
// and benchmarks use it as a simple reference: marking only the affected hosts must give the
// same results.
func (f *Floor) TouchAll(now float64) {
	f.now = now
	for h := range f.hosts {
		f.touch(&f.hosts[h])
	}
}

// allocate reallocates each marked host, sets the charges there, and enters the time of the
// next event of each marked run. One call covers all changes at the current time, so a burst
// of changes costs no more than one change.
func (f *Floor) allocate() {
	// Record the changes of bids before the marks are cleared.
	f.record()
	for _, h := range f.marks.touched {
		v := &f.hosts[h]
		v.touched = false
		next := never
		switch {
		// Tasks on an absent host must not progress or accrue charges.
		case v.away:
			f.still(v)
			next = f.Machines[h].Next()
		case len(v.on) > 0:
			next = f.share(v)
		}
		if v.reads {
			f.saveAllocation(v)
		}
		if next != v.next {
			enter(&f.heaps.completions, int32(h), &v.next, next)
		}
	}
	f.marks.touched = f.marks.touched[:0]
	for _, i := range f.marks.changed {
		c := &f.runs[i]
		if c.changed = false; c.left != vacant {
			f.expect(i)
		}
	}
	f.marks.changed = f.marks.changed[:0]
}

// leastRate is the lowest rate that counts as progress. It is above the rate of a task with
// weight [hosts.Idle] that competes with tasks of normal weight.
const leastRate = 1e-100

// share reallocates v, which has tasks, and returns the time at which the first of them
// completes. It also recomputes the charges and marks the runs whose rate has changed.
func (f *Floor) share(v *host) (next float64) {
	on, m := v.on, f.Machines[v.id]
	if f.rule.fixed == nil {
		// Fixed shares are already set on the machine; other rules compute and send them now.
		f.rule.Allocate(f.now, v.id, on, f)
		f.order(v)
	}
	gets := m.Processors()
	all := len(gets) == len(on)
	for i := range on {
		s := &on[i]
		var rate float64
		if all { // both slices are in order of start, so the indexes agree
			rate = gets[i] * v.rated.speed
		} else { // some tasks have completed, so the indexes differ
			rate = m.Rate(s.Slot)
		}
		// Only tasks whose rate has changed affect the completion of their runs.
		if rate != s.Rate {
			if rate < leastRate {
				rate = 0
			}
			s.Rate = rate
			f.change(s.Contract).rates[s.Node] = rate
		}
	}
	f.charge(v, on, f.pricesOf(v))
	if v.near > 0 {
		f.watch(v)
	}
	return m.Next()
}

// charge sets the charge per second of each task in on, at the given prices. The slice on
// contains the tasks that are now on v or were on v under an earlier allocation.
//
// The tariff applies first. Then the charge is raised to the floor prices of the processors
// that the task receives and of the resources that it holds. The charge never exceeds the bid.
// For example, at a floor price of $0.001/s for a processor, a task with 2 processors and a bid
// of $0.003/s pays at least $0.002/s.
func (f *Floor) charge(v *host, on []contracts.Allocation, prices Prices) {
	f.Tariff(on, prices, v.rated.capacity, v.rated.speed)
	if !f.floored {
		return
	}
	for i := range on {
		s := &on[i]
		least := f.FloorOf(v.id, s) + s.Vector.Least()
		if least = min(s.Bid.Float64(), least); least > s.Paying {
			s.Paying, s.For = least, contracts.AtFloor
		}
	}
}

// FloorOf returns the floor price of the processors that s gets on h, in dollars per second.
func (f *Floor) FloorOf(h hosts.ID, s *contracts.Allocation) float64 {
	return f.floors[h][hosts.CPU] * (s.Rate / f.hosts[h].rated.speed)
}

// order sends the machine of v the shares that have changed since the last call.
func (f *Floor) order(v *host) {
	for i := range v.on {
		if s := &v.on[i]; s.Share != s.Told {
			s.Told = s.Share
			f.Machines[v.id].SetShare(f.now, s.Slot, s.Share)
		}
	}
}

// still pauses the tasks on v, which is absent. Paused tasks neither progress nor accrue
// charges.
func (f *Floor) still(v *host) {
	for i := range v.on {
		s := &v.on[i]
		if s.Told != (hosts.Share{}) {
			s.Told = hosts.Share{}
			f.Machines[v.id].SetShare(f.now, s.Slot, hosts.Share{})
		}
		s.Rate, s.Paying = 0, 0
		f.change(s.Contract).rates[s.Node] = 0
	}
}

// expect advances run i to now and enters the time of its next event. The next event is the
// run's limit, the next check of its money, or its predicted completion, whichever is earliest.
//
// The prediction assumes constant rates. It stays valid until a host of the run is reallocated,
// which marks the run again. The sum of rates is recomputed rather than updated, so that
// rounding errors do not accumulate.
func (f *Floor) expect(i int32) {
	c := &f.runs[i]
	c.advance(f.now)
	sum := 0.0
	for _, rate := range c.rates {
		sum += rate
	}
	c.Rate = sum
	if c.near {
		c.spends = f.runsOut(i)
	}
	at := min(c.until, c.spends)
	switch left := c.goal - c.Done; {
	case left <= 0:
		at = min(at, f.now)
	// Metered hosts report the end of a task, so only the end of simulated work is predicted.
	case c.Rate > 0 && !c.reads:
		at = min(at, f.now+left/c.Rate)
	}
	enter(&f.heaps.ends, i, &c.next, at)
}

// advance adds the work that c has done up to now at its current rate. It does nothing if the
// hosts of c are metered, because they report the work themselves.
func (c *run) advance(now float64) {
	if c.reads {
		return
	}
	c.Done += c.Rate * (now - c.At)
	c.At = now
}

// total returns the true work of c over all nodes, in processor-seconds.
//
// In a booked run, each placement is a gang of several nodes. The total therefore depends on
// the number of nodes, not on the number of placements.
func (c *run) total() float64 {
	if c.Gang {
		return c.task.Work * float64(c.Nodes)
	}
	return c.task.Work * float64(len(c.Placements))
}
