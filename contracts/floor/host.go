package floor

import (
	"math"

	"bourse/contracts"
	"bourse/hosts"
	"bourse/hosts/slab"
	"bourse/market"
)

// A host is a machine with its auction and what runs on it.
type host struct {
	// What every event touches is in one place, with what the auction begins with.
	id      hosts.ID
	touched bool                   // it is in marks.touched
	news    bool                   // it is in news
	away    bool                   // it has left
	shut    bool                   // it takes no more tasks
	at      float64                // instant up to which on is metered
	next    float64                // instant entered in completions, +Inf if none
	on      []contracts.Allocation // in order of admission
	rated   rated
	auction market.Auctioneer

	interval int32   // of its history: the one it is in, or the next
	change   float64 // instant at which it comes or leaves, +Inf if it does not

	near  int32  // tasks on it of runs whose spending is watched
	reads bool   // its machine is metered: see [Floor.Read]
	deals []deal // of which not all has been read, in order
}

// Rated is how fast a host is, in work per second.
type rated struct {
	speed    float64 // of one processor
	capacity float64 // of all
}

// reset makes v idle at instant 0, keeping its memory.
func (v *host) reset(h hosts.ID, m hosts.Machine, c market.Config) {
	auction, on, spec := v.auction, v.on[:0], m.Spec()
	*v = host{id: h, rated: rated{spec.Speed, spec.Capacity()}, on: on, next: math.Inf(1), change: math.Inf(1), auction: auction}
	_, v.reads = m.(hosts.Metered)
	if err := v.auction.Reset(c); err != nil {
		panic("floor: " + err.Error())
	}
}

// meter charges what is on v for the time until now.
func (v *host) meter(now float64) {
	dt := now - v.at
	if dt == 0 {
		return
	}
	if v.at = now; v.reads {
		return // by what it tells
	}
	on := v.on
	for i := range on {
		s := &on[i]
		s.Owed += s.Paying * dt
		s.Done += s.Rate * dt
		s.At = now
	}
}

// many is from how many hosts on their memory is far, most of the time.
const many = 1 << 12

// prefetch reads of the hosts of on, where tasks are about to begin or stop, what that will
// need, so that the memory of all is fetched at once: of 10^5 hosts that is most of what an
// event costs.
func (f *Floor) prefetch(on []contracts.Placement) {
	if len(f.hosts) < many {
		return
	}
	sum := 0.0
	for n := range on {
		v := &f.hosts[on[n].Host]
		sum += v.at + v.auction.Prefetch()
		if len(v.on) > 0 {
			sum += v.on[0].At
		}
		if m, ok := f.Machines[v.id].(hosts.Prefetcher); ok {
			sum += m.Prefetch()
		}
	}
	f.scratch.fetched = sum
}

// find returns the place in v.on of node n of run i.
func (v *host) find(i, n int32) int {
	for at := range v.on { // not by a function that is given a copy of each
		if s := &v.on[at]; s.Contract == i && s.Node == n {
			return at
		}
	}
	panic("floor: a task is not where it was")
}

// start bids for node n of run i, which is c, and starts its task, which may hold more
// than processors.
func (f *Floor) start(c *run, i, n int32, holds bool) error {
	pl := &c.Placements[n]
	v, m := &f.hosts[pl.Host], f.Machines[pl.Host]
	if f.touch(v); v.reads {
		c.reads = true
	}
	task := c.task
	switch {
	case c.Gang:
		task.Work = c.undone(n)
	case !c.PerHost:
		task.Work = math.Inf(1) // the run is judged as a whole
	case f.rule.limit != nil:
		task.Work = min(task.Work, f.rule.limit.Limit(&c.Request))
	}
	if holds {
		task.Holds = c.Needs.Holds(m.Room())
	}
	var share hosts.Share // allocated later, unless it is fixed
	if f.rule.fixed != nil {
		share = f.rule.fixed.Share(&c.Contract, pl, f)
	}
	slot, err := m.Start(f.now, task, share)
	if err != nil {
		return err
	}
	pl.Slot = slot
	at := len(v.on)
	if at == cap(v.on) {
		v.on = f.allocations.Grow(v.on)
	}
	v.on = v.on[:at+1]
	v.on[at] = contracts.Allocation{}
	s := &v.on[at] // field by field: a copy of what was just written has to wait for it
	s.Contract, s.Node, s.Slot, s.Bid, s.At = i, n, slot, pl.Bid, f.now
	s.Share, s.Told = share, share
	s.Met = v.auction.Price()
	f.bid(v, 0, pl.Bid)
	return nil
}

// work returns what node n of c, or the gang that it stands for, truly needs.
func (c *run) work(n int32) float64 { return c.task.Work * float64(max(1, c.Placements[n].Nodes)) }

// undone returns the work that is left of part n of c, which is booked. It is half the
// tolerance less than all, so that rounding cannot put its completion after the second
// at which it would be done: whoever booked it would take it to have used up its
// estimate.
func (c *run) undone(n int32) float64 {
	return max(0, c.work(n)*(1-contracts.Tolerance/2)-c.Placements[n].Done)
}

// stop takes node n of run i, which is c, off its host.
func (f *Floor) stop(c *run, i, n int32) {
	pl := &c.Placements[n]
	v := &f.hosts[pl.Host]
	f.touch(v)
	f.leave(v, c, i, n, f.Machines[pl.Host].Stop(f.now, pl.Slot))
}

// leave books the report of node n of run i, which is c and whose task is gone from v.
func (f *Floor) leave(v *host, c *run, i, n int32, r hosts.Report) {
	pl := &c.Placements[n]
	at, on := v.find(i, n), v.on
	bid := on[at].Bid
	pl.Owed, pl.Left, pl.End, pl.Code = on[at].Owed, true, r.Why, r.Code
	pl.Done += r.Done
	c.rates[n] = 0
	c.left--
	if c.near {
		v.near--
	}
	for last := len(on) - 1; at < last; at++ { // few as a rule, and then sooner than by copy
		on[at] = on[at+1]
	}
	if v.on = on[:len(on)-1]; slab.Loose(len(v.on), cap(v.on)) {
		v.on = f.allocations.Trim(v.on)
	}
	f.bid(v, bid, 0)
}

// bid tells the auction of v that a bid of r stands in place of one of was, and all who
// watch its price.
func (f *Floor) bid(v *host, was, r market.Rate) {
	if !f.NoPrices {
		sum, more := f.marks.price, r-was
		if f.marks.price += more; (f.marks.price^sum)&(f.marks.price^more) < 0 { // the sign is neither's
			panic("floor: sum of bids out of range")
		}
		f.marks.bid = true
	}
	if v.auction.Bid(f.now, was, r); !v.away && !v.shut {
		f.ranking.Set(int32(v.id), v.auction.Price())
	}
}

// raise lets a bid of r stand for node n of run i, in place of its own. If it is 0, which is
// that of a run whose money is gone, its placement keeps what it bid before.
func (f *Floor) raise(i, n int32, r market.Rate) {
	c := &f.runs[i]
	pl := &c.Placements[n]
	v := &f.hosts[pl.Host]
	s := &v.on[v.find(i, n)]
	f.bid(v, s.Bid, r)
	if s.Bid = r; r > 0 {
		pl.Bid = r
	}
	if f.rule.fixed != nil {
		s.Share = f.rule.fixed.Share(&c.Contract, pl, f)
		if r == 0 {
			s.Share.Weight = hosts.Idle
		}
		if !v.away {
			f.order(v)
		}
	}
}

// touch meters v up to now and marks it to be allocated again.
func (f *Floor) touch(v *host) {
	v.meter(f.now)
	if !v.touched {
		v.touched = true
		f.marks.touched = append(f.marks.touched, v.id)
	}
	if f.news.old {
		f.forgetNews()
	}
	if !v.news {
		v.news = true
		f.news.hosts = append(f.news.hosts, v.id)
	}
}

func (f *Floor) forgetNews() {
	for _, h := range f.news.hosts {
		f.hosts[h].news = false
	}
	f.news.hosts, f.news.old = f.news.hosts[:0], false
}

// change marks run i to be looked at again, and returns it.
func (f *Floor) change(i int32) *run {
	c := &f.runs[i]
	if !c.changed {
		c.changed = true
		f.marks.changed = append(f.marks.changed, i)
	}
	return c
}
