package broker

import (
	"errors"
	"fmt"
	"slices"

	"bourse/contracts"
	"bourse/hosts"
)

// ErrNoContract is the reason for which there is nothing to cancel.
var ErrNoContract = errors.New("no such contract")

// Cancel takes a contract back for its owner, whatever the policy. One that is booked
// pays the part of its price that its policy says is due; another pays what has
// accrued; a request that waits for a decision is rejected. It returns an error
// wrapping ErrNoContract, and nothing has changed, if there is none. The broker has
// been advanced to now.
func (b *Broker) Cancel(now float64, id contracts.ID) error {
	i, ok := b.find(id)
	if !ok {
		return fmt.Errorf("cancel %d: %w", id, ErrNoContract)
	}
	b.now = now
	c := &b.contracts[i]
	var err error
	switch {
	case c.phase == contracts.Asked:
		err = b.withdraw(i)
	case b.floor.Contract(c.run).Gang:
		if err = b.tell(contracts.Event{Kind: contracts.Withdrawn, Contract: i}); err == nil && c.phase != contracts.Ended {
			return fmt.Errorf("cancel %d: %w: it is over", id, ErrNoContract)
		}
	default:
		b.freed = b.freed || c.phase == contracts.Running
		on, k := contracts.OnCancel, b.floor.Remove(now, c.run)
		if over := b.caseOf(c, k); over.Worked() {
			on = contracts.OnFinish // it ends at this very instant, but for rounding
		}
		err = b.over(i, on, k)
	}
	if err != nil {
		return err
	}
	return b.offer()
}

// Fault ends a contract whose command cannot be started on host h: its promise is not kept,
// by no fault of the provider, who owes nothing. Nothing is paid for its nodes there, and for
// others what has accrued. If their work is all that was asked for, the promise is kept. It
// returns an error wrapping ErrNoContract, and nothing has changed, if it does not run there.
// The broker has been advanced to now.
func (b *Broker) Fault(now float64, id contracts.ID, h hosts.ID) error {
	i, ok := b.find(id)
	if !ok || b.contracts[i].phase != contracts.Running {
		return fmt.Errorf("fault of %d: %w that runs", id, ErrNoContract)
	}
	c := &b.contracts[i]
	there := func(p contracts.Placement) bool { return p.Host == h }
	if !slices.ContainsFunc(b.floor.Contract(c.run).Placements, there) {
		return fmt.Errorf("fault of %d: %w that runs on %s", id, ErrNoContract, b.Fleet[h].Spec().Name)
	}
	b.now, b.freed = now, true
	k := b.floor.Remove(now, c.run)
	for n := range k.Placements {
		if p := &k.Placements[n]; there(*p) {
			p.Owed = 0
		}
	}
	if err := b.over(i, contracts.OnFault, k); err != nil {
		return err
	}
	return b.offer()
}

// withdraw rejects contract i, which waits for a decision, for its owner.
func (b *Broker) withdraw(i int32) error {
	c := &b.contracts[i]
	d := contracts.Decision{Reason: contracts.TakenBack}
	b.unwait(i)
	c.phase.Next(contracts.OnCancel)
	b.gone(i)
	b.refused = append(b.refused, Refusal{c.ID, b.now, d})
	b.freed = true // who waited behind it is asked again
	if err := b.Teller.Reject(b.now, int64(c.ID), b.reason(&d)); err != nil {
		return err
	}
	return b.tell(contracts.Event{Kind: contracts.Over, Contract: i, Outcome: contracts.Cancelled})
}

// find returns the contract of that id that has not ended.
func (b *Broker) find(id contracts.ID) (int32, bool) {
	if b.index.byID == nil {
		b.index.byID = make(map[contracts.ID]int32)
		for i := range b.contracts {
			if c := &b.contracts[i]; c.phase != contracts.Ended {
				b.index.byID[c.ID] = int32(i)
			}
		}
	}
	i, ok := b.index.byID[id]
	return i, ok
}

// Close ends the market at now, which Advance has been told, or just after: what is
// accepted is unfinished and pays nothing, whatever it has done; what waits for a
// decision stays undecided.
func (b *Broker) Close(now float64) error {
	b.now = now
	for run, i := range b.index.byRun {
		if i == none {
			continue
		}
		c := &b.contracts[i]
		if c.run != int32(run) || c.phase == contracts.Ended || c.phase == contracts.Asked {
			continue
		}
		if err := b.remove(i, contracts.OnClose); err != nil {
			return err
		}
	}
	return nil
}
