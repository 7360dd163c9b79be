package floor

import (
	"math"
	"slices"

	"bourse/contracts"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// complete ends the tasks that have completed on the first host due. Depending on the sharing
// rule, it also ends tasks whose completion differs only by rounding.
func (f *Floor) complete() {
	h, _, _ := f.heaps.completions.Min()
	// Hosts with completions at the same time are usually processed in heap order. With
	// OneByOne they are processed in the order of their contract numbers.
	if f.OneByOne {
		h = f.foremost()
	}
	v := &f.hosts[h]
	if f.touch(v); v.reads {
		f.read(v)
	}
	f.scratch.reports = f.Machines[h].Advance(f.now, f.scratch.reports[:0])
	for _, r := range f.scratch.reports {
		i := int32(r.Key)
		c := &f.runs[i]
		n := c.node(v.id, r.Slot)
		f.leave(v, c, i, n, r)
		f.change(i)
		if r.Why == hosts.Lost {
			f.missing(i, n)
		}
	}
	if f.rule.ending == sharing.WithNodes { // wait for all reports, because nodes of a packed run share the host
		for _, r := range f.scratch.reports {
			f.endTogether(int32(r.Key))
		}
	}
	if f.rule.ending == sharing.WithHost {
		f.endRest(v)
	}
	f.report(v)
}

// foremost returns a host with a task completed by now. If there are several, it returns the
// one on which the contract with the lowest number completed a task. The order of simultaneous
// completions is then independent of the order of the hosts.
func (f *Floor) foremost() (first int32) {
	due, least := &f.heaps.completions, contracts.ID(math.MaxInt64)
	f.scratch.ranked = f.scratch.ranked[:0]
	for h, at, ok := due.Min(); ok && at <= f.now; h, at, ok = due.Min() {
		due.Remove(h)
		f.scratch.ranked = append(f.scratch.ranked, h)
	}
	first = f.scratch.ranked[0]
	for _, h := range f.scratch.ranked {
		v := &f.hosts[h]
		due.Set(h, v.next)
		v.meter(f.now)
		for i := range v.on {
			if c := &f.runs[v.on[i].Contract]; c.ID < least && (f.finished(v, c, &v.on[i]) || len(v.on) == 1) {
				first, least = h, c.ID
			}
		}
	}
	return first
}

// report turns the reports of v's tasks into events.
func (f *Floor) report(v *host) {
	for k, r := range f.scratch.reports {
		i := int32(r.Key)
		c := &f.runs[i]
		switch {
		case c.Packed && slices.ContainsFunc(f.scratch.reports[:k], func(e hosts.Report) bool { return e.Key == r.Key }): // the run already has its event
		case r.Why == hosts.Lost: // the events of a lost task have already been added
		case c.Gang:
			n := c.part(v.id)
			c.Placements[n].Done = c.work(n)
			f.scratch.events = append(f.scratch.events, Event{Kind: Done, Run: i, Part: n})
		case c.left == 0:
			f.Remove(f.now, i)
			f.emit(Done, i)
		default:
			f.emit(Left, i)
		}
	}
}

// end processes the runs whose next event is due: they are done, or their limit has passed. All
// runs due at the same time leave before their hosts are reallocated. If it stayed on a host, a
// run at its deadline would demand the whole host and permanently delay the other runs.
//
// If rounding made a prediction slightly too early, the completion is predicted again from the
// current state. A run that has reached its limit leaves the heap and waits for the caller to
// remove or extend it.
func (f *Floor) end() {
	for f.heaps.ends.First() <= f.now {
		i, _, _ := f.heaps.ends.Min()
		c := &f.runs[i]
		c.advance(f.now)
		switch {
		case c.done(f.now):
			f.Remove(f.now, i)
			f.emit(Done, i)
		case f.now < c.until && f.now >= c.spends:
			f.spend(i)
		case f.now < c.until:
			f.expect(i) // rounding predicted the completion slightly too early
		default:
			enter(&f.heaps.ends, i, &c.next, never)
			f.emit(Expired, i)
		}
	}
}

// done reports whether c, judged as a whole, is done. It also returns true if the remaining
// work takes less time than a float64 can represent at now.
func (c *run) done(now float64) bool {
	return contracts.Enough(c.Done, c.goal) || now+(c.goal-c.Done)/c.Rate <= now
}

// node returns the index of the node of c that runs in a slot of h.
func (c *run) node(h hosts.ID, slot hosts.Slot) int32 {
	for n := range c.Placements {
		if p := &c.Placements[n]; p.Host == h && p.Slot == slot && !p.Left {
			return int32(n)
		}
	}
	panic("floor: a run has no node where its task was")
}

// part returns the index of the part of the booked run c that is on h.
func (c *run) part(h hosts.ID) int32 {
	return int32(slices.IndexFunc(c.Placements, func(p contracts.Placement) bool { return p.Host == h }))
}

// Because of float64 rounding, tasks that should end at the same time can end a few of the
// smallest time steps apart. During these steps, a task without remaining work would still be
// on its host: it would occupy its processor, or demand the whole host. The remaining functions
// in this file end such tasks together.

// Round ends the tasks that would complete on one host within four float64 steps after now, and
// returns the resulting events. The result more reports whether any task has ended. If it is
// true, other tasks may now be due, so the caller must call Round again.
//
// Round does nothing under rules whose tasks end independently ([sharing.ByItself]).
func (f *Floor) Round(now float64) (events []Event, more bool) {
	soon := now + 4*contracts.Moment(now)
	if f.rule.ending == sharing.ByItself || f.Next() > soon {
		return nil, false
	}
	h, at, ok := f.heaps.completions.Min()
	if !ok || at > soon {
		return nil, false
	}
	f.now, f.scratch.events = now, f.scratch.events[:0]
	f.scratch.reports = f.scratch.reports[:0]
	v := &f.hosts[h]
	f.touch(v)
	f.endRest(v)
	if f.rule.ending == sharing.WithNodes {
		for _, r := range f.scratch.reports {
			f.endTogether(int32(r.Key))
		}
	}
	f.report(v)
	return f.scratch.events, len(f.scratch.reports) > 0
}

// endTogether ends the other completed tasks of run i after one of its tasks has ended. The
// tasks of the run progress at the same pace, so their remaining work differs only by
// rounding.
func (f *Floor) endTogether(i int32) {
	c := &f.runs[i]
	if !c.PerHost || c.left == 0 {
		return
	}
	for n := range c.Placements {
		pl := &c.Placements[n]
		if pl.Left {
			continue
		}
		v := &f.hosts[pl.Host]
		f.touch(v)
		if work := c.work(int32(n)); contracts.Enough(v.on[v.find(i, int32(n))].Done, work) {
			f.takeOff(v, i, int32(n), work)
		}
	}
}

// endRest ends the tasks on v with at most [sharing.Tick] of work left, and appends their
// reports to f.scratch.reports.
func (f *Floor) endRest(v *host) {
	for at := 0; at < len(v.on); {
		s := &v.on[at]
		c := &f.runs[s.Contract]
		work := c.work(s.Node)
		if f.rule.limit != nil {
			work = min(work, f.rule.limit.Limit(&c.Request))
		}
		if !c.PerHost || work-s.Done > sharing.Tick {
			at++
			continue
		}
		f.change(s.Contract)
		f.scratch.reports = append(f.scratch.reports, f.takeOff(v, s.Contract, s.Node, work))
	}
}

// takeOff stops node n of run i on v and records all of its work as done. The machine's own
// count of the work differs only by rounding.
func (f *Floor) takeOff(v *host, i, n int32, work float64) hosts.Report {
	c := &f.runs[i]
	r := f.Machines[v.id].Stop(f.now, c.Placements[n].Slot)
	r.Done = work - c.Placements[n].Done
	f.leave(v, c, i, n, r)
	return r
}
