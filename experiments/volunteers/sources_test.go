package volunteers

import (
	"math"

	"bourse/hosts"
	"bourse/hosts/eventheap"
)

// The event sources of a replay, in the order in which they are processed at the same time.
type (
	endings  replay // jobs complete or are lost
	changes  replay // hosts come and go
	arrivals replay // jobs are submitted
	ticks    replay // the queue is processed
)

func first(a *eventheap.Heap) float64 {
	if _, at, ok := a.Min(); ok {
		return at
	}
	return math.Inf(1)
}

// Next implements [des.Source].
func (e *endings) Next() float64 { return first(&e.ending) }

// Advance implements [des.Source].
func (e *endings) Advance(now float64) error {
	r := (*replay)(e)
	for {
		h, at, ok := r.ending.Min()
		if !ok || at > now {
			return nil
		}
		s := &r.stations[h]
		s.advance(now)
		r.completed = s.completed(r.completed[:0])
		for _, t := range r.completed {
			j := r.c.Jobs[t.job]
			r.out.Done++
			r.out.Useful += j.Length
			r.out.Makespans += now - j.Submit
			r.pool.End(now, hosts.ID(h))
			r.log(Done, now, t.job, h)
		}
		if r.c.Trace.Hosts[h].Intervals()[r.interval[h]].End <= now {
			for _, t := range s.tasks {
				r.lose(now, t, h)
			}
			s.tasks = s.tasks[:0]
		}
		r.reschedule(h)
	}
}

// lose ends an attempt because the host leaves.
func (r *replay) lose(now float64, t task, h int32) {
	r.out.Failed++
	r.out.Wasted += r.c.Jobs[t.job].Length - t.left
	r.pool.End(now, hosts.ID(h))
	r.log(Fail, now, t.job, h)
	if r.queue.Resubmit(t.job) {
		r.out.Resent++
	}
}

// Next implements [des.Source].
func (c *changes) Next() float64 { return first(&c.change) }

// Advance implements [des.Source].
func (c *changes) Advance(now float64) error {
	for {
		h, at, ok := c.change.Min()
		if !ok || at > now {
			return nil
		}
		intervals := c.c.Trace.Hosts[h].Intervals()
		if !c.pool.IsAvailable(hosts.ID(h)) {
			c.pool.Rise(now, hosts.ID(h))
			c.change.Set(h, intervals[c.interval[h]].End)
			continue
		}
		c.pool.Fall(hosts.ID(h))
		c.interval[h]++
		if c.interval[h] < len(intervals) {
			c.change.Set(h, intervals[c.interval[h]].Start)
		} else {
			c.change.Remove(h)
		}
	}
}

// Next implements [des.Source].
func (a *arrivals) Next() float64 {
	if a.arrived == len(a.c.Jobs) {
		return math.Inf(1)
	}
	return a.c.Jobs[a.arrived].Submit
}

// Advance implements [des.Source].
func (a *arrivals) Advance(now float64) error {
	for ; a.arrived < len(a.c.Jobs) && a.c.Jobs[a.arrived].Submit <= now; a.arrived++ {
		a.queue.Submit(int32(a.arrived), a.c.Jobs[a.arrived].Length)
		a.out.Submitted++
	}
	return nil
}

// Next implements [des.Source].
func (t *ticks) Next() float64 { return t.tick }

// Advance implements [des.Source].
func (t *ticks) Advance(now float64) error {
	r := (*replay)(t)
	r.placements = r.queue.Tick(now, r.pool, r.c.Matchmaker, r.placements[:0])
	for _, p := range r.placements {
		h := int32(p.Host)
		r.stations[h].begin(now, p.Job, r.c.Jobs[p.Job].Length)
		r.out.Placed++
		r.log(Alloc, now, p.Job, h)
		r.reschedule(h)
	}
	t.tick += t.c.Interval
	return nil
}
