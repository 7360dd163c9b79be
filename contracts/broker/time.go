package broker

import (
	"math"

	"bourse/contracts"
	"bourse/contracts/floor"
)

// Next returns the time of the earliest pending event, or +Inf if there is none. It excludes
// the ticks of policies that are notified after the submissions of the same time: see
// [Broker.Late].
func (b *Broker) Next() float64 {
	at := b.floor.Next()
	if tick, last := b.Policy.Next(); !last && tick < at {
		at = tick
	}
	if _, due, ok := b.timers.Min(); ok && due < at {
		at = due
	}
	if _, due, ok := b.renewals.Min(); ok && due < at {
		at = due
	}
	return at
}

// Advance moves the market to now and processes all events up to then. At each point in time,
// the order is: events of the floor, deadlines of waiting requests, renewals of bids, and ticks
// of the policy, until none is left. Only then does the broker notify the policy, once, that
// resources may be free. The policy can therefore use all resources freed by now. With
// Config.OneByOne the broker notifies the policy after each event.
func (b *Broker) Advance(now float64) error {
	for next := b.Next(); next <= now; {
		at := next
		for b.now = at; next <= at; next = b.Next() {
			if err := b.step(); err != nil {
				return err
			}
			if b.OneByOne {
				if err := b.offer(); err != nil {
					return err
				}
			}
		}
		if b.freed {
			if err := b.offer(); err != nil {
				return err
			}
			next = b.Next()
		}
	}
	b.now = now
	for more := true; more; {
		var events []floor.Event
		events, more = b.floor.Round(now)
		if err := b.happened(events); err != nil {
			return err
		}
	}
	return b.offer()
}

// step processes the first event at the current time.
func (b *Broker) step() error {
	if b.floor.Next() <= b.now {
		return b.happened(b.floor.Advance(b.now))
	}
	if b.timers.First() <= b.now {
		return b.overdue()
	}
	if i, due, ok := b.renewals.Min(); ok && due <= b.now {
		b.renewBids(i)
		return nil
	}
	b.freed = true // requests that wait for a tick are proposed again
	return b.notify(contracts.Event{Kind: contracts.Tick})
}

// overdue notifies the policy of the first waiting contract whose hard deadline has been
// reached.
func (b *Broker) overdue() error {
	for _, i := range b.waiting {
		c := &b.contracts[i]
		if c.alarm > b.now {
			continue
		}
		b.timers.Remove(i)
		c.alarm = math.Inf(1)
		err := b.notify(contracts.Event{Kind: contracts.Overdue, Contract: i})
		if c := &b.contracts[i]; c.phase == contracts.Ended {
			b.freed = true // later requests in the waiting list may now fit
		}
		return err
	}
	panic("broker: no waiting contract has reached its deadline")
}

// happened processes events on the floor and their consequences.
func (b *Broker) happened(events []floor.Event) error {
	for _, e := range events {
		var err error
		switch e.Kind {
		case floor.Came:
			b.freed = true
			err = b.notify(contracts.Event{Kind: contracts.Came, Host: e.Host})
		case floor.Gone:
			err = b.notify(contracts.Event{Kind: contracts.Gone, Host: e.Host})
		default:
			err = b.ran(&e, b.index.byRun[e.Run])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ran processes event e of contract i and its consequences.
func (b *Broker) ran(e *floor.Event, i int32) error {
	c := &b.contracts[i]
	k, what := b.floor.Contract(c.run), e.Kind
	b.freed = b.freed || what != floor.Expired
	if what == floor.Expired {
		if handled, err := b.exhausted(i); handled {
			return err
		}
	}
	switch {
	case what == floor.Left || what == floor.Spent:
		return nil
	case what == floor.Done && k.Gang:
		b.pause(c)
		return b.notify(contracts.Event{Kind: contracts.Done, Contract: i, Part: e.Part})
	case what == floor.Done:
		return b.over(i, contracts.OnFinish, k)
	case what == floor.Broken:
		return b.over(i, contracts.OnLose, k)
	case what == floor.Lost:
		return b.lost(i)
	case k.Gang || c.SLA.GoesOn() && c.phase != contracts.Waiting:
		c.phase.Next(contracts.OnOverrun)
		c.byDue = b.floor.Extend(c.run, math.Inf(1))
		b.limit(i)
		return nil
	}
	b.freed = b.freed || c.phase == contracts.Running
	return b.over(i, contracts.OnExpire, b.floor.Remove(b.now, c.run))
}

// lost handles contract i, which is off all hosts because one of its hosts has left. It asks
// the policy whether to place the contract again, at once or later. The contract is broken if
// it is already late or if the policy does not place it again.
func (b *Broker) lost(i int32) error {
	c := &b.contracts[i]
	c.Repeat = true
	b.rests(i)
	if b.now < c.Due() {
		err := b.notify(contracts.Event{Kind: contracts.Lost, Contract: i})
		if err != nil || c.phase != contracts.Running || b.floor.Running(c.run) > 0 { // the contract waits, has ended, or runs again
			return err
		}
	}
	return b.over(i, contracts.OnLose, b.floor.Remove(b.now, c.run))
}

// over ends contract i, which has left the floor with the result k, and notifies the policy.
func (b *Broker) over(i int32, on contracts.Cause, k *contracts.Contract) error {
	if err := b.end(i, on, k); err != nil {
		return err
	}
	return b.notify(contracts.Event{Kind: contracts.Over, Contract: i, Outcome: b.ended[len(b.ended)-1].Outcome})
}

// Late returns a separate source of events for policies whose ticks come after the requests
// submitted at the same time. Advance it after all other sources.
//
// The function more reports whether more requests will come; nil means always. When more
// returns false, and if the policy has a method Pending, there are ticks only while Pending
// returns true. The argument of Pending reports whether the broker is idle, which means that no
// contract is open.
func (b *Broker) Late(more func() bool) Late { return Late{b, more} }

// A Late sends the ticks to the policy.
type Late struct {
	b    *Broker
	more func() bool
}

// Next returns the time of the next tick, or +Inf if there is none.
func (l Late) Next() float64 {
	tick, last := l.b.Policy.Next()
	if !last {
		return math.Inf(1)
	}
	if p, ok := l.b.Policy.(interface{ Pending(idle bool) bool }); ok && l.more != nil && !l.more() {
		if !p.Pending(l.b.Idle()) {
			return math.Inf(1)
		}
	}
	return tick
}

// Advance notifies the policy of a tick at now. The broker must already have been advanced to
// now.
func (l Late) Advance(now float64) error {
	l.b.now = now
	return l.b.notify(contracts.Event{Kind: contracts.Tick})
}
