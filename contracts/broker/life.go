package broker

import (
	"math"
	"slices"

	"bourse/contracts"
	"bourse/contracts/sharing"
	"bourse/hosts"
	"bourse/hosts/shelf"
	"bourse/market"
)

// start places the bid of node n of contract i and starts its task.
func (b *Broker) start(now float64, i, n int32) error {
	c := &b.contracts[i]
	pl := &c.Placements[n]
	v := &b.venues[pl.Host]
	b.touch(now, v)
	work := c.task.Work
	switch {
	case c.Gang:
		c.task.Work = c.undone()
	case b.limiter != nil && c.PerHost:
		c.task.Work = min(work, b.limiter.Limit(&c.Request))
	}
	if c.holds && !c.Gang { // a gang's nodes are its own, with all there is in them
		c.task.Holds = c.Needs.Holds(v.machine.Room())
	}
	var share hosts.Share // dealt out later, unless it lasts
	if b.lasting != nil {
		share = b.lasting.Share(&c.Contract, pl.Bid)
	}
	slot, err := v.machine.Start(now, c.task, share)
	c.task.Work = work
	if err != nil {
		return err
	}
	pl.Slot = slot
	at := len(v.on)
	if at == cap(v.on) {
		v.on = b.standings.Grow(v.on)
	}
	v.on = v.on[:at+1]
	v.on[at] = contracts.Standing{}
	s := &v.on[at] // field by field: a copy of what was just written has to wait for it
	s.Contract, s.Node, s.Slot, s.Bid, s.At = i, n, slot, pl.Bid, now
	s.Share, s.Told = share, share
	b.bid(now, v, c.ID, pl.Bid)
	return nil
}

// stop takes node n of contract i off its host.
func (b *Broker) stop(now float64, i, n int32) {
	pl := &b.contracts[i].Placements[n]
	v := &b.venues[pl.Host]
	b.touch(now, v)
	b.leave(now, v, i, n, v.machine.Stop(now, pl.Slot))
}

// leave books the report of node n of contract i, whose task is gone from v.
func (b *Broker) leave(now float64, v *venue, i, n int32, r hosts.Report) {
	c := &b.contracts[i]
	pl := &c.Placements[n]
	at := v.find(i, n)
	pl.Owed, pl.Left = v.on[at].Owed, true
	c.rates[n] = 0
	pl.Done += r.Done
	if at+1 < len(v.on) {
		copy(v.on[at:], v.on[at+1:])
	}
	if v.on = v.on[:len(v.on)-1]; shelf.Loose(len(v.on), cap(v.on)) {
		v.on = b.standings.Trim(v.on)
	}
	c.left--
	b.freed = true
	if b.dispatcher != nil {
		b.dispatcher.Off(now, c.ID, pl.Host)
	}
	b.bid(now, v, c.ID, 0)
}

// bid tells the auction of v, and everybody who watches its price.
func (b *Broker) bid(now float64, v *venue, id contracts.ID, r market.Rate) {
	before := v.auction.Price()
	v.auction.Bid(now, market.BidderID(id), r)
	price := v.auction.Price()
	if !v.away {
		b.ranking.Set(int32(v.host), price)
	}
	if !b.NoPrices {
		b.prices.Add(now, price-before)
	}
}

// touch meters v up to now and marks it to be dealt out again.
func (b *Broker) touch(now float64, v *venue) {
	v.meter(now)
	if !v.touched {
		v.touched = true
		b.touched = append(b.touched, v.host)
	}
	if !v.news {
		v.news = true
		b.news = append(b.news, v.host)
	}
}

// change marks contract i to be looked at again.
func (b *Broker) change(i int32) {
	if c := &b.contracts[i]; !c.changed {
		c.changed = true
		b.changed = append(b.changed, i)
	}
}

// deal deals out every host touched, sets what is charged there, and looks again
// at every contract whose rate has changed.
func (b *Broker) deal(now float64) {
	for _, h := range b.touched {
		v := &b.venues[h]
		v.touched = false
		next := math.Inf(1)
		switch {
		case v.away:
			b.still(now, v)
			next = v.machine.Next()
		case len(v.on) > 0:
			b.share(now, v)
			next = v.machine.Next()
		}
		if next != v.next {
			v.next = next
			set(&b.finish, int32(h), next)
		}
	}
	b.touched = b.touched[:0]
	for _, i := range b.changed {
		b.contracts[i].changed = false
		if b.contracts[i].State == contracts.Active {
			b.expect(now, i)
		}
	}
	b.changed = b.changed[:0]
}

// share deals out v, where tasks are.
func (b *Broker) share(now float64, v *venue) {
	on, m := v.on, v.machine
	if b.lasting == nil {
		b.Sharing.Deal(now, v.host, on, view{b})
		v.tell(now)
	}
	gets := m.Processors()
	all := len(gets) == len(on)
	for i := range on {
		s := &on[i]
		var rate float64
		if all { // both lists are in order of start
			rate = gets[i] * v.speed
		} else { // some have completed
			rate = m.Rate(s.Slot)
		}
		if rate != s.Rate {
			s.Rate = rate
			b.contracts[s.Contract].rates[s.Node] = rate
			b.change(s.Contract)
		}
	}
	b.Payment.Charge(on, v.auction.Price(), v.capacity)
}

// expect brings contract i to now and enters the instant at which to judge it.
func (b *Broker) expect(now float64, i int32) {
	c := &b.contracts[i]
	c.Done += c.Rate * (now - c.At)
	c.At, c.Rate = now, 0
	for _, rate := range c.rates {
		c.Rate += rate
	}
	if c.fixed {
		return
	}
	c.fixed = c.PerHost
	at := math.Inf(1)
	if left := c.total() - c.Done; !c.PerHost && left <= 0 {
		at = now
	} else if !c.PerHost && c.Rate > 0 {
		at = now + left/c.Rate
	}
	if !c.late {
		at = min(at, c.Due())
	}
	set(&b.due, i, at)
}

// total returns the work that is truly needed over all nodes.
func (c *contract) total() float64 { return c.task.Work * float64(len(c.Placements)) }

// judge ends the first contract due, or lets it go on after its deadline.
func (b *Broker) judge(now float64) error {
	i, _, _ := b.due.Min()
	c := &b.contracts[i]
	c.bring(now)
	switch {
	case c.Waiting:
		return b.breaks(now, i)
	case !c.PerHost && b.done(now, c):
		return b.end(now, i)
	case c.late || now < c.Due():
		b.expect(now, i) // rounding put the completion a little too early
		return nil
	case c.SLA.GoesOn():
		b.pass(now, i)
		b.deal(now)
		return nil
	}
	return b.end(now, i)
}

// done reports whether the work of c is done, or cannot be told from it: what
// is left would take no time that a float64 can show.
func (b *Broker) done(now float64, c *contract) bool {
	total := c.total()
	return contracts.Enough(c.Done, total) || now+(total-c.Done)/c.Rate <= now
}

// pass lets contract i go on after its deadline. It keeps its bids, and is
// charged for what it gets as long as its budget lasts.
func (b *Broker) pass(now float64, i int32) {
	c := &b.contracts[i]
	c.late, c.fixed, c.ByDue = true, false, min(c.Done, c.total())
	b.expect(now, i)
}

// complete ends the tasks that complete by themselves now, and the contracts
// whose last task that was.
func (b *Broker) complete(now float64) error {
	i, _, _ := b.finish.Min()
	v := &b.venues[i]
	b.touch(now, v)
	b.reports = v.machine.Advance(now, b.reports[:0])
	for _, r := range b.reports {
		i := int32(r.Key)
		n := slices.IndexFunc(b.contracts[i].Placements, func(p contracts.Placement) bool { return p.Host == v.host && !p.Left })
		b.leave(now, v, i, int32(n), r)
		b.change(i)
		if b.ending == sharing.WithNodes {
			b.together(now, i)
		}
	}
	if b.ending == sharing.WithHost {
		b.rest(now, v)
	}
	return b.conclude(now)
}

// conclude ends the contracts of which the last task has just been reported, and
// deals the hosts out again.
func (b *Broker) conclude(now float64) error {
	for _, r := range b.reports {
		i := int32(r.Key)
		if c := &b.contracts[i]; c.Gang {
			c.Placements[0].Done = c.task.Work
			b.planner.Done(now, c.ID)
		} else if c.left == 0 {
			if err := b.end(now, i); err != nil {
				return err
			}
		}
	}
	b.deal(now)
	return nil
}
