package floor

import (
	"bourse/contracts"
	"bourse/hosts"
	"bourse/market"
)

// Bring brings f to now, at which nothing happens by itself: what it shows as a view
// is then true of that instant.
func (f *Floor) Bring(now float64) {
	if f.stale() {
		f.allocate()
	}
	f.now = now
}

// Amid brings f to now between two actions of one instant. No time passes from one to the
// other, so shares that last need not be dealt in between.
func (f *Floor) Amid(now float64) {
	if f.rule.fixed == nil {
		f.Bring(now)
	}
}

// stale reports whether anything has changed that is to be looked at before time passes.
func (f *Floor) stale() bool { return len(f.marks.touched)+len(f.marks.changed) > 0 }

// TouchAll marks every host to be shared out again, as if something had changed there:
// the plain form of what the floor does, which tests and benchmarks compare with.
func (f *Floor) TouchAll(now float64) {
	f.now = now
	for h := range f.hosts {
		f.touch(&f.hosts[h])
	}
}

// allocate shares out every host on which something has changed, sets what is
// charged there, and enters when the runs concerned are to be looked at next.
func (f *Floor) allocate() {
	f.record()
	for _, h := range f.marks.touched {
		v := &f.hosts[h]
		v.touched = false
		next := never
		switch {
		case v.away:
			f.still(v)
			next = f.Machines[h].Next()
		case len(v.on) > 0:
			next = f.share(v)
		}
		if v.reads {
			f.deal(v)
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

// leastRate is more than a task that weighs [hosts.Idle] gets where others want all.
const leastRate = 1e-100

// share shares out v, where tasks are, and returns when one of them is done.
func (f *Floor) share(v *host) (next float64) {
	on, m := v.on, f.Machines[v.id]
	if f.rule.fixed == nil {
		f.rule.Allocate(f.now, v.id, on, f)
		f.order(v)
	}
	gets := m.Processors()
	all := len(gets) == len(on)
	for i := range on {
		s := &on[i]
		var rate float64
		if all { // both are in order of start
			rate = gets[i] * v.rated.speed
		} else { // some have completed
			rate = m.Rate(s.Slot)
		}
		if rate != s.Rate {
			if rate < leastRate {
				rate = 0
			}
			s.Rate = rate
			f.change(s.Contract).rates[s.Node] = rate
		}
	}
	f.charge(on, v.auction.Price(), &v.rated)
	if v.near > 0 {
		f.watch(v)
	}
	return m.Next()
}

// charge sets what is paid for tasks on a host: by the tariff, and for each processor that one
// gets at least the floor price, but never more than its bid.
func (f *Floor) charge(on []contracts.Allocation, price market.Rate, r *rated) {
	f.Tariff(on, price, r.capacity, r.speed)
	if f.Least == 0 {
		return
	}
	for i := range on {
		s := &on[i]
		s.Paying = max(s.Paying, min(s.Bid.Float64(), f.Least*(s.Rate/r.speed)))
	}
}

// order tells the machine of v the shares that it has not been told.
func (f *Floor) order(v *host) {
	for i := range v.on {
		if s := &v.on[i]; s.Share != s.Told {
			s.Told = s.Share
			f.Machines[v.id].SetShare(f.now, s.Slot, s.Share)
		}
	}
}

// still lets the tasks on v, which is away, stand still. Nothing accrues.
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

// expect brings run i to now and enters the instant at which to look at it.
func (f *Floor) expect(i int32) {
	c := &f.runs[i]
	c.bring(f.now)
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
	case c.Rate > 0 && !c.reads:
		at = min(at, f.now+left/c.Rate)
	}
	enter(&f.heaps.ends, i, &c.next, at)
}

// bring counts the work of c up to now, unless its hosts tell of it.
func (c *run) bring(now float64) {
	if c.reads {
		return
	}
	c.Done += c.Rate * (now - c.At)
	c.At = now
}

// total returns the work that is truly needed over all nodes.
func (c *run) total() float64 {
	if c.Gang {
		return c.task.Work * float64(c.Nodes)
	}
	return c.task.Work * float64(len(c.Placements))
}
