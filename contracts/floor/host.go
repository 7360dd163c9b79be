package floor

import (
	"errors"
	"math"
	"slices"

	"bourse/contracts"
	"bourse/hosts"
	"bourse/market"
)

// A host is a machine with its auction and its tasks.
type host struct {
	// The most frequently used fields come first, next to the first fields of the auction, to
	// reduce cache misses.
	id      hosts.ID
	touched bool                   // whether the host is in marks.touched
	news    bool                   // whether the host is in news
	away    bool                   // whether the host has left
	shut    bool                   // whether the host accepts no more tasks
	at      float64                // time up to which the tasks have been metered, in seconds
	next    float64                // time entered in heaps.completions; +Inf if none
	on      []contracts.Allocation // tasks on the host, in order of admission
	rated   rated
	auction market.Auctioneer
	others  []market.Auctioneer // auctions of the other resources with a price, in order: see vector.go

	interval int32   // index in the host's history of the current interval, or of the next interval
	change   float64 // time of the next arrival or departure; +Inf if none

	near  int32  // number of tasks on the host whose runs have monitored spending
	reads bool   // whether the machine is metered: see [Floor.Read]
	deals []deal // allocations with usage not yet read, oldest first
}

// A rated contains the speed of a host, in work per second.
type rated struct {
	speed    float64 // speed of one processor
	capacity float64 // speed of all processors
}

// reset makes v idle at time 0 and reuses its memory.
func (v *host) reset(h hosts.ID, m hosts.Machine, others int, c market.Config) {
	auction, on, spec := v.auction, v.on[:0], m.Spec()
	more := slices.Grow(v.others[:0], others)[:others]
	*v = host{id: h, rated: rated{spec.Speed, spec.Capacity()}, on: on, next: math.Inf(1), change: math.Inf(1), auction: auction, others: more}
	_, v.reads = m.(hosts.Metered)
	err := v.auction.Reset(c)
	for i := range more {
		err = errors.Join(err, more[i].Reset(c))
	}
	if err != nil {
		panic("floor: " + err.Error())
	}
}

// meter adds the work and charges of the tasks on v up to now. Rates and charges are constant
// between two events on a host, so one multiplication per task suffices.
func (v *host) meter(now float64) {
	dt := now - v.at
	if dt == 0 {
		return
	}
	if v.at = now; v.reads {
		return // the reports of the host contain the work and determine the charges
	}
	on := v.on
	for i := range on {
		s := &on[i]
		s.Owed += s.Paying * dt
		s.Done += s.Rate * dt
		s.At = now
	}
}

// find returns the index in v.on of node n of run i.
func (v *host) find(i, n int32) int {
	for at := range v.on { // a loop avoids the copies that slices.IndexFunc would make
		if s := &v.on[at]; s.Contract == i && s.Node == n {
			return at
		}
	}
	panic("floor: a task is not where it was")
}

// start enters the bid of node n of run i, which is c, and starts its task. If holds is set,
// the task also reserves memory, disk and bandwidth.
//
// The work sent to the machine depends on the promise. If only the sum over all nodes is
// promised, the work is +Inf, and the floor stops the nodes when the sum is reached. If each
// node is promised separately or the run is booked, the machine ends the task itself.
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
		task.Work = math.Inf(1) // the floor ends the run when the sum of work is done
	case f.rule.limit != nil:
		task.Work = min(task.Work, f.rule.limit.Limit(&c.Request))
	default:
		task.Work -= pl.Done
	}
	if holds {
		task.Holds = c.Needs.Holds(m.Spec(), m.Room())
	}
	bid, vector := pl.Bid, (*contracts.Vector)(nil)
	if f.vectors {
		if vector = f.claim(v, c, &task.Holds, bid); vector != nil {
			bid = vector.Bids[hosts.CPU]
		}
	}
	var share hosts.Share // share, which is allocated later unless it is fixed
	if f.rule.fixed != nil {
		share = f.shared(c, pl, bid)
	}
	slot, err := m.Start(f.now, task, share)
	if err != nil {
		return err
	}
	pl.Slot = slot
	v.on = append(v.on, contracts.Allocation{})
	s := &v.on[len(v.on)-1] // set field by field, to avoid a store-forwarding stall
	s.Contract, s.Node, s.Slot, s.Bid, s.At = i, n, slot, pl.Bid, f.now
	if !c.Gang {
		s.Done = pl.Done
	}
	s.Share, s.Told = share, share
	s.Of, s.Claim = int32(c.Nodes), f.specs[pl.Host].Usable(c.Needs.Max.CPU)
	if f.rule.fixed != nil {
		s.Claim = f.specs[pl.Host].Usable(share.Limit)
	}
	// The payment rule admission uses the price before the task's own bid is added.
	if s.Met = v.auction.Price(); f.Promised {
		s.Met = pl.Promised
	}
	if vector != nil {
		s.Vector = vector
		f.bidOthers(v, nil, vector)
	}
	f.bid(v, 0, bid)
	return nil
}

// shared returns the share of the node of c at pl if its bid for processors is bid.
func (f *Floor) shared(c *run, pl *contracts.Placement, bid market.Rate) hosts.Share {
	if bid == pl.Bid {
		return f.rule.fixed.Share(&c.Contract, pl, f)
	}
	on := *pl
	on.Bid = bid
	return f.rule.fixed.Share(&c.Contract, &on, f)
}

// work returns the true work of node n of c, or of all nodes of the gang that n represents.
func (c *run) work(n int32) float64 { return c.task.Work * float64(max(1, c.Placements[n].Nodes)) }

// undone returns the remaining work of part n of the booked run c. It subtracts half the
// tolerance, so that rounding cannot delay the completion beyond the second that the policy
// planned. After such a delay, the policy would assume that the part has used up its estimate.
func (c *run) undone(n int32) float64 {
	return max(0, c.work(n)*(1-contracts.Tolerance/2)-c.Placements[n].Done)
}

// stop removes node n of run i, which is c, from its host.
func (f *Floor) stop(c *run, i, n int32) {
	pl := &c.Placements[n]
	v := &f.hosts[pl.Host]
	f.touch(v)
	f.leave(v, c, i, n, f.Machines[pl.Host].Stop(f.now, pl.Slot))
}

// leave records the report r of node n of run i, which is c, whose task on v has ended. It
// also removes the allocation and the bid.
//
// It preserves the order of the remaining allocations, because rules and policies rely on the
// order of admission.
func (f *Floor) leave(v *host, c *run, i, n int32, r hosts.Report) {
	pl := &c.Placements[n]
	at, on := v.find(i, n), v.on
	bid, vector := on[at].Own(), on[at].Vector
	pl.Owed, pl.Left, pl.End, pl.Code = on[at].Owed, true, r.Why, r.Code
	if vector != nil {
		pl.Charged = vector.Charged
	}
	pl.Done += r.Done
	c.rates[n] = 0
	c.left--
	if c.near {
		v.near--
	}
	for last := len(on) - 1; at < last; at++ { // usually a short slice, for which a loop is faster than copy
		on[at] = on[at+1]
	}
	v.on = on[:len(on)-1]
	f.bid(v, bid, 0)
	if vector != nil {
		f.bidOthers(v, vector, nil)
	}
}

// bid changes a bid in the auction of v from the old rate (was) to the new rate (r). It
// updates the total price and the price order of the hosts. A rate of 0 means no bid.
//
// It panics if the change in the total price overflows. An absent or closed host ranks after
// all others, so its price does not change the order.
func (f *Floor) bid(v *host, was, r market.Rate) {
	if !f.NoPrices {
		sum, more := f.marks.price, r-was
		if f.marks.price += more; (f.marks.price^sum)&(f.marks.price^more) < 0 { // overflow: the sign of the sum differs from the signs of both operands
			panic("floor: sum of bids out of range")
		}
		f.marks.bid = true
	}
	if f.HostPrices {
		f.each[v.id].Add(f.now, r-was)
	}
	if v.auction.Bid(f.now, was, r); !v.away && !v.shut {
		f.ranking.Set(int32(v.id), v.auction.Price())
	}
}

// raise replaces the bid of node n of run i with r. If r is 0, the run has spent its money.
// The placement then keeps its previous bid, so that refund can restore it.
func (f *Floor) raise(i, n int32, r market.Rate) {
	c := &f.runs[i]
	pl := &c.Placements[n]
	v := &f.hosts[pl.Host]
	s := &v.on[v.find(i, n)]
	was := s.Own()
	if s.Bid = r; s.Vector != nil {
		next := s.Vector.With(r)
		f.bidOthers(v, s.Vector, next)
		s.Vector = next
	}
	f.bid(v, was, s.Own())
	if r > 0 {
		pl.Bid = r
	}
	if f.rule.fixed != nil {
		s.Share = f.shared(c, pl, s.Own())
		if r == 0 {
			s.Share.Weight = hosts.Idle
		}
		if !v.away {
			f.order(v)
		}
	}
}

// touch meters v up to now and marks it for reallocation. Every function that changes a host
// must call touch first, so that the time before the change is charged at the old rates.
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

// change marks run i for processing before time advances, and returns it.
func (f *Floor) change(i int32) *run {
	c := &f.runs[i]
	if !c.changed {
		c.changed = true
		f.marks.changed = append(f.marks.changed, i)
	}
	return c
}
