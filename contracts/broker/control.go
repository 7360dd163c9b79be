package broker

import (
	"errors"
	"fmt"
	"slices"

	"bourse/contracts"
	"bourse/hosts"
)

// ErrNoContract means that the contract does not exist, has ended, or does not run on the
// specified host.
var ErrNoContract = errors.New("no such contract")

// Cancel ends a contract for its owner. The owner pays:
//
//   - for a booked contract, the part of its price that its policy declares due;
//   - for any other contract, the charges accrued so far, or the budget if [Payment].Whole;
//   - for a request that waits for a decision, nothing: it is rejected.
//
// If there is no such contract, Cancel changes nothing and returns an error wrapping
// ErrNoContract. The broker must already have been advanced to now.
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
		if err = b.notify(contracts.Event{Kind: contracts.Withdrawn, Contract: i}); err == nil && c.phase != contracts.Ended {
			return fmt.Errorf("cancel %d: %w: it has ended", id, ErrNoContract)
		}
	default:
		b.freed = b.freed || c.phase == contracts.Running
		on, k := contracts.OnCancel, b.floor.Remove(now, c.run)
		if over := b.caseOf(c, k); over.Worked() {
			on = contracts.OnFinish // the work is already done, within rounding
		}
		err = b.over(i, on, k)
	}
	if err != nil {
		return err
	}
	return b.offer()
}

// Fault ends a contract whose command cannot be started on host h. The promise counts as
// broken, but not by the provider, so no penalty is due. The owner pays the charges accrued on
// other hosts but nothing for nodes on h. If the other nodes have done all of the requested
// work, the promise counts as kept.
//
// If the contract does not run on h, Fault changes nothing and returns an error wrapping
// ErrNoContract. The broker must already have been advanced to now.
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

// withdraw rejects contract i, which waits for a decision. Its owner has cancelled it.
func (b *Broker) withdraw(i int32) error {
	c := &b.contracts[i]
	d := contracts.Decision{Reason: contracts.TakenBack}
	b.unwait(i)
	c.phase.Next(contracts.OnCancel)
	b.gone(i)
	b.refused = append(b.refused, Refusal{c.ID, b.now, d})
	b.freed = true // later requests in the waiting list may now fit
	if err := b.Teller.Reject(b.now, int64(c.ID), b.reason(&d)); err != nil {
		return err
	}
	return b.notify(contracts.Event{Kind: contracts.Over, Contract: i, Outcome: contracts.Cancelled})
}

// find returns the index of the contract with this ID, if it has not ended. It builds the
// index by ID at the first call, because most simulations never use the index.
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

// Close ends the market at now, which is the time of the last Advance or just after it.
// Accepted contracts become unfinished and pay nothing, even for work done. Requests that wait
// for a decision remain undecided.
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
