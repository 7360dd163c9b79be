package broker

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/settlement"
)

// tell tells the policy e and does what it answers, until it has no more to say.
func (b *Broker) tell(e contracts.Event) error {
	for {
		if e.Kind != contracts.Over { // others may end at this instant before hosts are shared out anew
			b.floor.Bring(b.now)
		}
		actions := b.Policy.Handle(b.now, e, view{b})
		if len(actions) == 0 {
			return nil
		}
		for k := range actions {
			b.floor.Amid(b.now)
			if err := b.do(&actions[k]); err != nil {
				return err
			}
		}
		e = contracts.Event{Kind: contracts.Continue}
	}
}

// offer tells the policy that there may be room, if there may.
func (b *Broker) offer() error {
	if !b.freed {
		return nil
	}
	b.freed = false
	return b.tell(contracts.Event{Kind: contracts.Freed})
}

// do does what the policy wants.
func (b *Broker) do(a *contracts.Action) error {
	i := a.Contract
	c := &b.contracts[i]
	switch a.Verb {
	case contracts.Enqueue:
		b.enqueue(i, a.Place)
		return nil
	case contracts.Launch:
		if c.phase != contracts.Running { // with another part
			c.phase.Next(contracts.OnStart)
		}
		if err := b.floor.Resume(b.now, c.run, a.Part); err != nil {
			return fmt.Errorf("start %d on %s: %w", c.ID, b.hostOf(c.run, a.Part), err)
		}
		return nil
	case contracts.Suspend:
		b.floor.Pause(b.now, c.run, a.Part)
		b.pause(c)
		b.freed = true
		return nil
	case contracts.Finish:
		return b.remove(i, contracts.OnFinish)
	case contracts.Stop:
		return b.remove(i, contracts.OnKill)
	case contracts.Release:
		fee, err := settlement.Fee(c.price, a.Due, a.Of)
		if err != nil {
			return fmt.Errorf("cancel %d: %w", c.ID, err)
		}
		c.price = fee
		return b.remove(i, contracts.OnCancel)
	}
	return b.decided(i, a)
}

// enqueue lets contract i wait, at that place.
func (b *Broker) enqueue(i int32, place int) {
	c := &b.contracts[i]
	b.waiting = slices.Insert(b.waiting, place, i)
	switch {
	case c.phase == contracts.Running: // its deadline stands on the floor
		c.phase.Next(contracts.OnRecall)
		b.floor.Contract(c.run).Resent++
	case !c.SLA.GoesOn() && !c.OnDemand:
		c.alarm = max(c.Due(), b.now)
		b.timers.Set(i, c.alarm)
	}
}

// decided carries out what the policy has decided of contract i: a, which becomes a
// refusal if the contract cannot be had.
func (b *Broker) decided(i int32, a *contracts.Action) (err error) {
	c, d := &b.contracts[i], a.Decision
	again := c.phase == contracts.Waiting
	if a.Verb != contracts.Refuse && !again {
		held, err := b.hold(c, a)
		if err != nil {
			return err
		}
		if !held {
			d.Verdict, d.Placements = contracts.Reject, nil
		}
	}
	if again && c.run == none && d.Verdict == contracts.Accept && a.Verb == contracts.Admit && b.below(c, d) {
		d.Verdict, d.Placements = contracts.Reject, nil
	}
	b.unwait(i)
	switch {
	case d.Verdict == contracts.Accept && again:
		err = b.start(i, d.Placements)
	case d.Verdict == contracts.Accept:
		err = b.accept(i, a)
	case again:
		err = b.remove(i, contracts.OnExpire)
	default:
		err = b.refuse(i, d)
	}
	switch {
	case i == b.asked:
		b.answer = *d
	case d.Verdict == contracts.Reject && !again:
		kept := *d
		kept.Numbers = slices.Clone(d.Numbers)
		b.refused = append(b.refused, Refusal{c.ID, b.now, kept})
	}
	return err
}

// hold holds the budget of c on the terms of a, and reports whether it may be promised and
// its owner can pay for it; otherwise it gives the decision of a its reason.
func (b *Broker) hold(c *contract, a *contracts.Action) (bool, error) {
	d := a.Decision
	switch {
	case c.SLA.Budget.Sign() <= 0:
		d.Reason = contracts.NoRate
		return false, nil
	case a.Verb == contracts.Admit && !c.SLA.GoesOn() && c.Due() <= b.now:
		d.Reason = contracts.TooLate
		return false, nil
	case a.Verb == contracts.Admit && b.below(c, d):
		return false, nil
	}
	err := b.Teller.Hold(b.now, int64(c.ID), c.Owner, c.SLA.Budget, b.terms(c, d, a.Verb == contracts.Book))
	if err == nil {
		return true, nil
	}
	if short, ok := errors.AsType[*bank.Shortfall](err); ok {
		d.Reason = contracts.Unfunded
		d.Numbers = append(d.Numbers, contracts.Paid("balance", short.Has), contracts.Paid("budget", short.Needs))
		return false, nil
	}
	if errors.Is(err, bank.ErrRefused) {
		d.Reason = contracts.NotAllowed
		return false, nil
	}
	return false, fmt.Errorf("admit %d: %w", c.ID, err)
}

// below reports whether a node of c is to bid less than the floor price of all that it may
// use on its host, and gives d that reason.
func (b *Broker) below(c *contract, d *contracts.Decision) bool {
	if b.Least == 0 || b.Payment.Whole {
		return false
	}
	for _, p := range d.Placements {
		spec := b.Fleet[p.Host].Spec()
		claim := spec.CPUs
		for _, limit := range [...]float64{spec.Cap, c.Needs.Max.CPU} {
			if limit > 0 {
				claim = min(claim, limit)
			}
		}
		const rounding = 1e-15 // dollars per second: bids are whole nano-dollars
		if least := b.Least * claim; p.Bid.Float64()+rounding < least {
			d.Reason = contracts.BelowFloor
			d.Numbers = append(d.Numbers, contracts.Measured("bid", p.Bid.Float64()), contracts.Measured("least", least))
			return true
		}
	}
	return false
}

// accept starts contract i, whose budget is held, or books its hosts.
func (b *Broker) accept(i int32, a *contracts.Action) error {
	b.contracts[i].phase.Next(contracts.OnAccept)
	if a.Verb == contracts.Book {
		return b.book(i, a.Decision)
	}
	return b.start(i, a.Decision.Placements)
}

// pause moves c, which is booked and has lost a task, if that was its last.
func (b *Broker) pause(c *contract) {
	if c.phase == contracts.Running && b.floor.Running(c.run) == 0 {
		c.phase.Next(contracts.OnPause)
	}
}

// book enters contract i, which its policy starts and ends.
func (b *Broker) book(i int32, d *contracts.Decision) (err error) {
	c := &b.contracts[i]
	if d.Priced {
		if c.price, err = settlement.Price(d.Ask); err != nil {
			return fmt.Errorf("price of %d: %w", c.ID, err)
		}
	}
	c.PerHost = true    // each gang is promised by itself
	c.SLA.RunsOn = true // only its policy ends it
	b.runs(i, b.floor.Book(b.now, &c.Request, c.task, d.Placements, c.Due()))
	return nil
}

// start gives contract i its hosts. Its limit is its deadline, or none if that has
// passed already: then nothing is done by it.
func (b *Broker) start(i int32, on []contracts.Placement) (err error) {
	c := &b.contracts[i]
	c.phase.Next(contracts.OnStart)
	if c.run != none {
		err = b.floor.PlaceAgain(b.now, c.run, on)
	} else {
		until := c.Due()
		switch {
		case until <= b.now:
			until = math.Inf(1)
		case b.Patience > 0 && !c.SLA.GoesOn():
			c.task.Until = until
			until += b.Patience
		}
		var run int32
		run, err = b.floor.Place(b.now, &c.Request, c.task, on, until)
		b.runs(i, run)
	}
	if err != nil {
		return fmt.Errorf("admit %d: %w", c.ID, err)
	}
	b.renewLater(i, b.now)
	return nil
}

// runs notes that contract i is that run of the floor.
func (b *Broker) runs(i, run int32) {
	b.contracts[i].run = run
	for int(run) >= len(b.index.byRun) {
		b.index.byRun = append(b.index.byRun, none)
	}
	b.index.byRun[run] = i
}

// hostOf returns the name of the host that part n of run is booked on.
func (b *Broker) hostOf(run, n int32) string {
	return b.Fleet[b.floor.Contract(run).Placements[n].Host].Spec().Name
}

// refuse turns contract i away.
func (b *Broker) refuse(i int32, d *contracts.Decision) error {
	c := &b.contracts[i]
	c.phase.Next(contracts.OnRefuse)
	b.gone(i)
	return b.Teller.Reject(b.now, int64(c.ID), b.reason(d))
}

// unwait takes contract i out of those who wait, if it is there.
func (b *Broker) unwait(i int32) {
	if at := slices.Index(b.waiting, i); at >= 0 {
		b.waiting = slices.Delete(b.waiting, at, at+1)
		b.timers.Remove(i)
	}
}
