package floor

import (
	"math"
	"slices"

	"bourse/contracts"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// complete ends the tasks that are done on the first host due.
func (f *Floor) complete() {
	h, _, _ := f.heaps.completions.Min()
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
		n := c.node(v.id)
		f.leave(v, c, i, n, r)
		f.change(i)
		if r.Why == hosts.Lost {
			f.missing(i, n)
		}
		if f.rule.ending == sharing.WithNodes {
			f.endTogether(i)
		}
	}
	if f.rule.ending == sharing.WithHost {
		f.endRest(v)
	}
	f.report(v)
}

// foremost returns, of the hosts on which a task is done by now, the one with the
// contract of the lowest number among those.
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

// report makes events of the tasks that v has reported.
func (f *Floor) report(v *host) {
	for _, r := range f.scratch.reports {
		i := int32(r.Key)
		c := &f.runs[i]
		switch {
		case r.Why == hosts.Lost: // what came of it has been told
		case c.Gang:
			n := c.part(v.id)
			c.Placements[n].Done = c.work(n)
			f.scratch.events = append(f.scratch.events, Event{Kind: Done, Run: i, Part: n})
		case c.left == 0:
			f.Remove(f.now, i)
			f.tell(Done, i)
		default:
			f.tell(Left, i)
		}
	}
}

// end looks at the runs due, which are done or expire. All of an instant leave before
// their hosts are shared out anew: one that is still there at its deadline would ask for
// all of its host, and delay the others for good.
func (f *Floor) end() {
	for f.heaps.ends.First() <= f.now {
		i, _, _ := f.heaps.ends.Min()
		c := &f.runs[i]
		c.bring(f.now)
		switch {
		case c.done(f.now):
			f.Remove(f.now, i)
			f.tell(Done, i)
		case f.now < c.until && f.now >= c.spends:
			f.spend(i)
		case f.now < c.until:
			f.expect(i) // rounding put the completion a little too early
		default:
			enter(&f.heaps.ends, i, &c.next, never)
			f.tell(Expired, i)
		}
	}
}

// done reports whether the work of c, if it is judged as a whole, is done, or what is
// left would take no time that a float64 can show.
func (c *run) done(now float64) bool {
	return contracts.Enough(c.Done, c.goal) || now+(c.goal-c.Done)/c.Rate <= now
}

// node returns the node of c that runs on h.
func (c *run) node(h hosts.ID) int32 {
	for n := range c.Placements {
		if p := &c.Placements[n]; p.Host == h && !p.Left {
			return int32(n)
		}
	}
	panic("floor: a run has no node where its task was")
}

// part returns the part of c, which is booked, that is on h.
func (c *run) part(h hosts.ID) int32 {
	return int32(slices.IndexFunc(c.Placements, func(p contracts.Placement) bool { return p.Host == h }))
}

// What ends at one instant float64 may put a few moments apart. In between a task
// that has nothing left would still be there: its processor is not free yet, or it
// asks for all of its host. The rest of this file ends at once what rounding leaves.

// Round ends what would end on one host moments after now, and returns what came of
// it. It reports whether a task has ended: then there may be more.
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

// endTogether ends the other tasks of run i, whose tasks keep pace, where one has
// ended.
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

// endRest ends the tasks on v that have no more than a tick left, and appends to
// reports.
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

// takeOff takes node n of run i, whose work is done, off v.
func (f *Floor) takeOff(v *host, i, n int32, work float64) hosts.Report {
	c := &f.runs[i]
	r := f.Machines[v.id].Stop(f.now, c.Placements[n].Slot)
	r.Done = work
	f.leave(v, c, i, n, r)
	return r
}
