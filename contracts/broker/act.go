package broker

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/note"
	"bourse/contracts/settlement"
)

// notify reports e to the policy and carries out the actions it returns. It repeats this with
// [contracts.Continue] until the policy returns no more actions, so that each decision takes
// the effects of the previous decision into account.
func (b *Broker) notify(e contracts.Event) error {
	for {
		if e.Kind != contracts.Over { // other contracts may end at this time, before hosts are reallocated
			b.floor.MoveTo(b.now)
		}
		actions := b.Policy.Handle(b.now, e, view{b})
		if b.failing != nil {
			if err := b.failing.Err(); err != nil {
				return err
			}
		}
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

// offer notifies the policy that resources may be free, if resources were freed since the last
// notification.
func (b *Broker) offer() error {
	if !b.freed {
		return nil
	}
	b.freed = false
	return b.notify(contracts.Event{Kind: contracts.Freed})
}

// do carries out one action of the policy.
func (b *Broker) do(a *contracts.Action) error {
	i := a.Contract
	if a.Verb == contracts.Announce {
		return b.record(bank.Cleared, bank.NoContract, func(out []byte) []byte { return note.Result(out, a.Decision.Numbers) })
	}
	c := &b.contracts[i]
	if a.Part == contracts.All || a.Verb == contracts.Rebid {
		return b.move(i, a)
	}
	switch a.Verb {
	case contracts.Enqueue:
		b.enqueue(i, a.Place)
		return nil
	case contracts.Launch:
		if c.phase != contracts.Running { // another part may already run
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

// enqueue inserts contract i at the given index of the waiting list. A request with a hard
// deadline also gets a timer, because a request has no run whose limit could end it.
func (b *Broker) enqueue(i int32, place int) {
	c := &b.contracts[i]
	b.waiting = slices.Insert(b.waiting, place, i)
	switch {
	case c.phase == contracts.Running: // the run on the floor already has the deadline as its limit
		c.phase.Next(contracts.OnRecall)
		b.floor.Contract(c.run).Resent++
	case !c.SLA.GoesOn() && !c.OnDemand:
		c.alarm = max(c.Due(), b.now)
		b.timers.Set(i, c.alarm)
	}
}

// decided carries out action a, a decision on contract i. An acceptance becomes a rejection if
// the budget cannot be held or a bid is below the floor price. If the contract is placed
// again, its budget is already held.
func (b *Broker) decided(i int32, a *contracts.Action) (err error) {
	c, d := &b.contracts[i], a.Decision
	again := c.phase == contracts.Waiting
	if a.Verb != contracts.Refuse && !again {
		held, err := b.hold(c, a)
		if err != nil {
			return err
		}
		if c.rated = d.Rated; !held {
			d.Verdict, d.Placements = contracts.Reject, nil
		}
	}
	if again && c.run == none && d.Verdict == contracts.Accept && a.Verb == contracts.Admit && b.below(&c.Request, d) {
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

// hold asks the teller to hold the budget of c on the terms of a. It reports whether the
// teller holds the budget. If the market must not promise the contract or its owner cannot
// pay, hold stores the reason in the decision of a. An error means that the teller failed.
func (b *Broker) hold(c *contract, a *contracts.Action) (bool, error) {
	d := a.Decision
	if b.bars(b.now, &c.Request, d, a.Verb) {
		return false, nil
	}
	return c.pays(d, b.Teller.Hold(b.now, int64(c.ID), c.Owner, c.SLA.Budget, b.terms(c, d, a.Verb == contracts.Book)))
}

// pays reports whether the teller, whose call returned err, has moved the money for decision
// d. If the owner cannot pay or has not authorized the payment, pays stores the reason in d.
func (c *contract) pays(d *contracts.Decision, err error) (bool, error) {
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

// bars reports whether the market must not promise r at time now, although the policy returned
// verb with decision d. If so, bars stores the reason in d.
func (b *Broker) bars(now float64, r *contracts.Request, d *contracts.Decision, verb contracts.Verb) bool {
	switch {
	case r.SLA.Budget.Sign() <= 0:
		d.Reason = contracts.NoRate
	case verb == contracts.Admit && !r.SLA.GoesOn() && r.Due() <= now:
		d.Reason = contracts.TooLate
	case b.lacks(r):
		d.Reason = contracts.NoLicence
	default:
		return verb == contracts.Admit && b.below(r, d)
	}
	return true
}

// below reports whether a node of r would bid less than the floor price of all resources that
// the node may use on its host. If so, below stores this reason in d. For example, at a floor
// price of $0.001/s, a node that may use 2 processors must bid at least $0.002/s.
func (b *Broker) below(r *contracts.Request, d *contracts.Decision) bool {
	for i := range d.Placements {
		p := &d.Placements[i]
		if least, ok := contracts.Affords(r, p, &b.floor); !ok {
			d.Reason = contracts.BelowFloor
			d.Numbers = slices.DeleteFunc(d.Numbers, func(n contracts.Number) bool { name, _ := n.Value(); return name == "bid" })
			d.Numbers = append(d.Numbers, contracts.Measured("bid", p.Bid.Float64()), contracts.Measured("least", least))
			return true
		}
	}
	return false
}

// accept starts contract i, whose budget is held, or books it if the policy plans ahead.
func (b *Broker) accept(i int32, a *contracts.Action) error {
	b.contracts[i].phase.Next(contracts.OnAccept)
	b.license(&b.contracts[i], 1)
	if a.Verb == contracts.Book {
		return b.book(i, a.Decision)
	}
	return b.start(i, a.Decision.Placements)
}

// pause moves c to phase Paused if none of its tasks is running. The caller has just stopped a
// task of c, which is booked.
func (b *Broker) pause(c *contract) {
	if c.phase == contracts.Running && b.floor.Running(c.run) == 0 {
		c.phase.Next(contracts.OnPause)
	}
}

// book enters contract i as booked: the policy will start and end its parts. The price is fixed
// at this time: it is the price that the policy set, or the budget if the policy set none.
func (b *Broker) book(i int32, d *contracts.Decision) (err error) {
	c := &b.contracts[i]
	if d.Priced {
		if c.price, err = settlement.Price(d.Ask); err != nil {
			return fmt.Errorf("price of %d: %w", c.ID, err)
		}
	}
	c.PerHost = true    // each gang is promised separately
	c.SLA.RunsOn = true // so that only the policy ends the contract
	b.runs(i, b.floor.Book(b.now, &c.Request, c.task, d.Placements, c.Due()))
	return nil
}

// start places contract i on its hosts. The limit of the run is the deadline of the contract.
// If the deadline has already passed, as for a late start of a soft contract, the run has no
// limit, and no work counts as done by the deadline. Metered hosts stop a hard contract at its
// deadline themselves. On such hosts the limit is Patience seconds later, so that their last
// report can arrive.
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
	b.limit(i)
	return nil
}

// runs records the number of the floor's run for contract i.
func (b *Broker) runs(i, run int32) {
	b.contracts[i].run = run
	for int(run) >= len(b.index.byRun) {
		b.index.byRun = append(b.index.byRun, none)
	}
	b.index.byRun[run] = i
}

// hostOf returns the name of the host on which part n of run is booked.
func (b *Broker) hostOf(run, n int32) string {
	return b.Fleet[b.floor.Contract(run).Placements[n].Host].Spec().Name
}

// refuse rejects contract i, which has no escrow, and records the reason in the ledger.
func (b *Broker) refuse(i int32, d *contracts.Decision) error {
	c := &b.contracts[i]
	c.phase.Next(contracts.OnRefuse)
	b.gone(i)
	return b.Teller.Reject(b.now, int64(c.ID), b.reason(d))
}

// unwait removes contract i from the waiting list, if the list contains it.
func (b *Broker) unwait(i int32) {
	if at := slices.Index(b.waiting, i); at >= 0 {
		b.waiting = slices.Delete(b.waiting, at, at+1)
		b.timers.Remove(i)
	}
}
