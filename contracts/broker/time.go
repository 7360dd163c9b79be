package broker

import (
	"math"

	"bourse/contracts"
	"bourse/contracts/floor"
)

// Next returns the earliest instant at which something happens, +Inf if nothing
// will.
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

// Advance brings the market to now. At each instant on the way what ends on the floor
// ends first; then come deadlines of those who wait, bids that are renewed, and ticks of the
// policy, as long as there are any; and then, once, the policy is told that there is room, or after each
// where they come one by one.
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

// step lets happen what is first of this instant.
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
	b.freed = true // what waits for a tick is asked again
	return b.tell(contracts.Event{Kind: contracts.Tick})
}

// overdue tells the policy of the first of those who wait whose hard deadline has
// come.
func (b *Broker) overdue() error {
	for _, i := range b.waiting {
		c := &b.contracts[i]
		if c.alarm > b.now {
			continue
		}
		b.timers.Remove(i)
		c.alarm = math.Inf(1)
		err := b.tell(contracts.Event{Kind: contracts.Overdue, Contract: i})
		if c := &b.contracts[i]; c.phase == contracts.Ended {
			b.freed = true // who waited behind it is asked again
		}
		return err
	}
	panic("broker: nobody waits whose deadline has come")
}

// happened carries on with what has happened on the floor.
func (b *Broker) happened(events []floor.Event) error {
	for _, e := range events {
		var err error
		switch e.Kind {
		case floor.Came:
			b.freed = true
			err = b.tell(contracts.Event{Kind: contracts.Came, Host: e.Host})
		case floor.Gone:
			err = b.tell(contracts.Event{Kind: contracts.Gone, Host: e.Host})
		default:
			err = b.ran(&e, b.index.byRun[e.Run])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ran carries on with contract i, to which e has happened.
func (b *Broker) ran(e *floor.Event, i int32) error {
	c := &b.contracts[i]
	k, what := b.floor.Contract(c.run), e.Kind
	b.freed = b.freed || what != floor.Expired
	switch {
	case what == floor.Left || what == floor.Spent:
		return nil
	case what == floor.Done && k.Gang:
		b.pause(c)
		return b.tell(contracts.Event{Kind: contracts.Done, Contract: i, Part: e.Part})
	case what == floor.Done:
		return b.over(i, contracts.OnFinish, k)
	case what == floor.Broken:
		return b.over(i, contracts.OnLose, k)
	case what == floor.Lost:
		return b.lost(i)
	case k.Gang || c.SLA.GoesOn() && c.phase == contracts.Running:
		c.phase.Next(contracts.OnOverrun)
		c.byDue = b.floor.Extend(c.run, math.Inf(1))
		return nil
	}
	b.freed = b.freed || c.phase == contracts.Running
	return b.over(i, contracts.OnExpire, b.floor.Remove(b.now, c.run))
}

// lost asks the policy whether contract i, which is off all hosts because one has
// left, is to be placed again. Late already it is broken, and so it is if the policy
// has no use for it.
func (b *Broker) lost(i int32) error {
	c := &b.contracts[i]
	c.Repeat = true
	b.rests(i)
	if b.now < c.Due() {
		if err := b.tell(contracts.Event{Kind: contracts.Lost, Contract: i}); err != nil || c.phase == contracts.Waiting {
			return err
		}
	}
	return b.over(i, contracts.OnLose, b.floor.Remove(b.now, c.run))
}

// over ends contract i, which is off the floor as k says, and tells the policy.
func (b *Broker) over(i int32, on contracts.Cause, k *contracts.Contract) error {
	if err := b.end(i, on, k); err != nil {
		return err
	}
	return b.tell(contracts.Event{Kind: contracts.Over, Contract: i, Outcome: b.ended[len(b.ended)-1].Outcome})
}

// Late is when the policy is to be told of time, if that is after what is submitted at
// the same instant: a source of time of its own, to be advanced after all others.
func (b *Broker) Late() Late { return Late{b} }

// Late tells the policy of time.
type Late struct{ b *Broker }

// Next returns the next of those instants, +Inf if there is none.
func (l Late) Next() float64 {
	if tick, last := l.b.Policy.Next(); last {
		return tick
	}
	return math.Inf(1)
}

// Advance tells the policy of now, to which the broker has been advanced.
func (l Late) Advance(now float64) error {
	l.b.now = now
	return l.b.tell(contracts.Event{Kind: contracts.Tick})
}
