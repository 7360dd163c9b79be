package floor

import (
	"math"

	"bourse/contracts"
	"bourse/hosts/availability"
	"bourse/market"
	"bourse/workloadgen/plugin"
)

// An Availability says when hosts are there, and what becomes of the tasks on one that
// leaves.
type Availability struct {
	Histories []*availability.History // one per host; nil: [Floor.Came] and [Floor.Gone] say when
	Leaving   Leaving
	Charged   bool      // what accrued on work that is lost stays owed
	Predictor Predictor // what policies may ask; nil: nobody predicts
}

// A Predictor predicts whether hosts stay.
type Predictor interface {
	// Stays returns the probability that a host with that history, which is there now,
	// stays for span seconds, more than 0.
	Stays(h *availability.History, now, span float64) float64
}

// A Leaving is a rule for the tasks on a host that leaves.
type Leaving uint8

// Rules for the tasks on a host that leaves.
const (
	Resubmit Leaving = iota // their runs stop everywhere, to be placed again from scratch
	Lose                    // they are gone, with their work
	Suspend                 // they stand still until it is back
)

// Leavings returns the table of those rules.
func Leavings() plugin.Table[Leaving] {
	return plugin.Table[Leaving]{Kind: "rule of leaving", Members: plugin.Members[Leaving]{
		"lost":     {"they are gone, with their work", plugin.Is(Lose)},
		"resubmit": {"their contracts start again elsewhere", plugin.Is(Resubmit)},
		"suspend":  {"they stand still until it is back", plugin.Is(Suspend)},
	}}
}

// arrive puts every host where it is at instant 0.
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

// hide takes v away from who looks for hosts.
func (f *Floor) hide(v *host) {
	v.away = true
	f.rank(v)
}

// rank puts v by its price among the hosts, or after all if it is not to be given work.
func (f *Floor) rank(v *host) {
	price := v.auction.Price()
	if v.away || v.shut {
		price = market.MaxRate
	}
	f.ranking.Set(int32(v.id), price)
}

// alter lets the first host due come or leave.
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

// come lets v be there again, with the tasks that stood still.
func (f *Floor) come(v *host) {
	f.touch(v)
	v.away = false
	f.order(v)
	f.rank(v)
	f.scratch.events = append(f.scratch.events, Event{Kind: Came, Host: v.id})
}

// leaves lets v leave.
func (f *Floor) leaves(v *host) {
	f.touch(v)
	if f.Availability.Leaving != Suspend {
		f.vacate(v)
	}
	f.hide(v)
	f.scratch.events = append(f.scratch.events, Event{Kind: Gone, Host: v.id})
}

// vacate takes everything off v, in order of admission. What is done at this instant,
// to rounding, is done.
func (f *Floor) vacate(v *host) {
	for len(v.on) > 0 {
		s := &v.on[0]
		i, n := s.Contract, s.Node
		c := &f.runs[i]
		c.bring(f.now)
		switch {
		case c.PerHost && f.finished(v, c, s):
			f.takeOff(v, i, n, c.work(n))
			f.change(i)
			if c.left > 0 {
				f.tell(Left, i)
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

// depart removes run i; the others have more of its hosts at once.
func (f *Floor) depart(k Kind, i int32) {
	f.Remove(f.now, i)
	f.allocate()
	f.tell(k, i)
}

// finished reports whether what is left of s, a node of c on v, would take no time
// that counts.
func (f *Floor) finished(v *host, c *run, s *contracts.Allocation) bool {
	work := c.work(s.Node)
	if math.IsInf(work, 1) {
		return false // its host tells when it is
	}
	if f.rule.limit != nil && f.rule.limit.Limit(&c.Request) < work {
		return false // it is not let do all its work
	}
	return work-s.Done <= contracts.Tolerance*work+2*contracts.Moment(f.now)*v.rated.capacity
}

// lose ends node n of run i, with all that it has done. A run whose nodes work
// towards one sum goes on with the others.
func (f *Floor) lose(i, n int32) {
	f.stop(&f.runs[i], i, n)
	f.lost(i, n)
}

// lost books that node n of run i, which is off its host, has lost what it had done.
func (f *Floor) lost(i, n int32) {
	c := &f.runs[i]
	pl := &c.Placements[n]
	c.Losses++
	c.Wasted += pl.Done
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
	f.tell(Left, i)
}

// charged reports whether what accrued on work that is lost stays owed.
func (f *Floor) charged() bool { return f.Availability != nil && f.Availability.Charged }

// recall stops run i everywhere, and forgets its work.
func (f *Floor) recall(i int32) {
	c := &f.runs[i]
	for n := range c.Placements {
		pl := &c.Placements[n]
		if !pl.Left {
			f.stop(c, i, int32(n))
		}
		c.Wasted += pl.Done
		if f.charged() && pl.Owed > 0 {
			c.arrears = append(c.arrears, contracts.Placement{Host: pl.Host, Owed: pl.Owed})
		}
		pl.Done, pl.Owed = 0, 0
	}
	c.Losses++
	c.Done, c.Rate = 0, 0
	c.spends, c.near = never, false
	c.Repeat = true
	f.change(i)
	f.tell(Lost, i)
}
