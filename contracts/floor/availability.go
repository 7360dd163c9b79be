package floor

import (
	"math"

	"bourse/contracts"
	"bourse/hosts/availability"
	"bourse/market"
	"bourse/workloadgen/plugin"
)

// An Availability specifies when hosts are available and what happens to the tasks on a host
// that leaves.
type Availability struct {
	Histories []*availability.History // one per host; if nil, the caller reports arrivals and departures by calling [Floor.Came] and [Floor.Gone]
	Leaving   Leaving
	Charged   bool      // whether charges for lost work remain owed
	Predictor Predictor // predictor that policies may query, or nil
}

// A Predictor predicts whether hosts stay.
type Predictor interface {
	// Stays returns the probability that a host with history h, available at now, stays for
	// span seconds, span > 0.
	Stays(h *availability.History, now, span float64) float64
}

// A Leaving is a rule for the tasks on a host that leaves.
type Leaving uint8

// These are the rules for the tasks on a host that leaves.
const (
	Resubmit Leaving = iota // the runs of these tasks stop on all hosts and are placed again from the beginning
	Lose                    // the tasks and their work are lost
	Suspend                 // the tasks pause until the host is back
)

// Leavings returns the table of the rules for hosts that leave.
func Leavings() plugin.Table[Leaving] {
	return plugin.Table[Leaving]{Kind: "rule of leaving", Members: plugin.Members[Leaving]{
		"lost":     {"tasks are lost, with their work", plugin.Is(Lose)},
		"resubmit": {"contracts start again on other hosts", plugin.Is(Resubmit)},
		"suspend":  {"tasks are paused until the host returns", plugin.Is(Suspend)},
	}}
}

// arrive marks each host as present or absent according to its history at time 0, and enters
// the time of the next change in the presence of each host.
//
// A host that is absent at time 0 arrives at the start of its next interval. If there is no
// such interval, the host never arrives.
func (f *Floor) arrive() {
	for h := range f.hosts {
		v := &f.hosts[h]
		past := f.Availability.Histories[h]
		v.interval = int32(past.After(0))
		at, here := past.At(0)
		if here {
			enter(&f.heaps.changes, int32(h), &v.change, at.End)
			continue
		}
		f.hide(v)
		if int(v.interval) < len(past.Intervals()) {
			enter(&f.heaps.changes, int32(h), &v.change, past.Intervals()[v.interval].Start)
		}
	}
}

// hide marks v as absent, so that v no longer receives tasks.
func (f *Floor) hide(v *host) {
	v.away = true
	f.rank(v)
}

// rank updates the position of v in the price order of the hosts. An absent or closed host
// ranks after all other hosts.
func (f *Floor) rank(v *host) {
	price := v.auction.Price()
	if v.away || v.shut {
		price = market.MaxRate
	}
	f.ranking.Set(int32(v.id), price)
}

// alter processes the next change of availability: the first host whose change is due arrives
// or leaves.
//
// A history is a list of intervals [Start, End) during which a host is available. While the
// host is available, host.interval is the index of the current interval; while the host is
// absent, of the next interval.
func (f *Floor) alter() {
	i, _, _ := f.heaps.changes.Min()
	v := &f.hosts[i]
	intervals := f.Availability.Histories[i].Intervals()
	if v.away {
		enter(&f.heaps.changes, i, &v.change, intervals[v.interval].End)
		f.come(v)
		return
	}
	if v.interval++; int(v.interval) < len(intervals) {
		enter(&f.heaps.changes, i, &v.change, intervals[v.interval].Start)
	} else {
		enter(&f.heaps.changes, i, &v.change, never)
	}
	f.leaves(v)
}

// come makes v available again, and resumes its paused tasks. It meters v first, while the
// rates are still 0.
func (f *Floor) come(v *host) {
	f.touch(v)
	v.away = false
	f.order(v)
	f.rank(v)
	f.scratch.events = append(f.scratch.events, Event{Kind: Came, Host: v.id})
}

// leaves makes v leave. Unless the rule is Suspend, it removes all tasks from v.
//
// Under Suspend the tasks stay on the host with their bids and resume when it is back.
func (f *Floor) leaves(v *host) {
	f.touch(v)
	if f.Availability.Leaving != Suspend {
		f.vacate(v)
	}
	f.hide(v)
	f.scratch.events = append(f.scratch.events, Event{Kind: Gone, Host: v.id})
}

// vacate removes all tasks from v, in order of admission. A task whose remaining work at this
// time is only rounding error counts as done, not as lost. The result therefore does not
// depend on which of two simultaneous events is processed first.
func (f *Floor) vacate(v *host) {
	for len(v.on) > 0 {
		s := &v.on[0]
		i, n := s.Contract, s.Node
		c := &f.runs[i]
		c.advance(f.now)
		switch {
		case c.PerHost && f.finished(v, c, s):
			f.takeOff(v, i, n, c.work(n))
			f.change(i)
			if c.left > 0 {
				f.emit(Left, i)
				continue
			}
			f.depart(Done, i)
		case c.done(f.now):
			f.depart(Done, i)
		case f.Availability.Leaving == Lose:
			f.lose(i, n)
		default:
			f.recall(i)
		}
	}
}

// depart removes run i and emits event k. It reallocates at once, because the next task that
// vacate examines may thereby have a larger share on another host.
func (f *Floor) depart(k Kind, i int32) {
	f.Remove(f.now, i)
	f.allocate()
	f.emit(k, i)
}

// finished reports whether the remaining work of s, a node of c on v, is only rounding error.
// The bound is the relative tolerance plus the work that v does in two of the smallest steps
// of float64 time.
func (f *Floor) finished(v *host, c *run, s *contracts.Allocation) bool {
	work := c.work(s.Node)
	if math.IsInf(work, 1) {
		return false // the metered host reports the end of the task
	}
	if f.rule.limit != nil && f.rule.limit.Limit(&c.Request) < work {
		return false // the task is stopped before all of its work is done
	}
	return work-s.Done <= contracts.Tolerance*work+2*contracts.Moment(f.now)*v.rated.capacity
}

// lose stops node n of run i and discards all of its work. If the nodes share one total of
// work, the run continues on its other nodes.
func (f *Floor) lose(i, n int32) {
	f.stop(&f.runs[i], i, n)
	f.lost(i, n)
}

// lost records that node n of run i, which is off its host, has lost its work. The run is
// broken if its nodes were promised separately or if this was its last node, because no other
// node can then make up for the loss.
func (f *Floor) lost(i, n int32) {
	c := &f.runs[i]
	pl := &c.Placements[n]
	c.Losses++
	c.Wasted += max(0, pl.Done) // pl.Done is less than 0 until a suspended run has done its extra work
	c.Done -= pl.Done
	pl.Done = 0
	if !f.charged() {
		pl.Owed = 0
	}
	if c.PerHost || c.left == 0 {
		f.depart(Broken, i)
		return
	}
	f.refund(i)
	f.change(i)
	f.emit(Left, i)
}

// charged reports whether charges for lost work remain owed.
func (f *Floor) charged() bool { return f.Availability != nil && f.Availability.Charged }

// recall stops run i on all hosts and discards its work, except work that was saved. Charges
// for the discarded work remain owed as arrears if Availability.Charged is set.
//
// The whole run stops, not only the node on the host that left, because the run repeats all of
// its work.
func (f *Floor) recall(i int32) {
	c, left := &f.runs[i], 0.0
	for n := range c.Placements {
		pl := &c.Placements[n]
		if !pl.Left {
			f.stop(c, i, int32(n))
		}
		c.Wasted += c.salvage(n, f.charged())
		left += pl.Done
	}
	c.Losses++
	c.Done, c.Rate = left, 0
	c.spends, c.near = never, false
	c.Repeat = true
	f.change(i)
	f.emit(Lost, i)
}
