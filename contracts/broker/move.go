package broker

import (
	"fmt"
	"math"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/note"
	"bourse/hosts"
)

// A policy that sells hosts for a limited time can change the rates of a contract that is not
// booked. It can also suspend the contract, which removes it from all hosts, and later start it
// on other hosts. The charges for each stay on hosts remain owed. Each change of hosts becomes
// a ledger entry. An audit therefore knows where the contract ran at any time.
//
// If its rates are agreed ([contracts.Decision].Rated), the contract ends when its charges
// reach its budget. Without this limit, a user could understate the estimate and obtain
// unlimited time for the budget.

// move carries out action a, which changes all nodes of contract i.
func (b *Broker) move(i int32, a *contracts.Action) error {
	c := &b.contracts[i]
	switch a.Verb {
	case contracts.Suspend:
		b.floor.Withdraw(b.now, c.run, a.Lose)
		c.phase.Next(contracts.OnPause)
		b.freed = true
		b.limit(i)
		return b.record(bank.Moved, int64(c.ID), func(out []byte) []byte { return note.Off(out, a.Lose) })
	case contracts.Launch:
		c.phase.Next(contracts.OnStart)
		if err := b.floor.Return(b.now, c.run, a.Decision.Placements, a.Restore); err != nil {
			return fmt.Errorf("start %d again: %w", c.ID, err)
		}
		b.limit(i)
		return b.record(bank.Moved, int64(c.ID), func(out []byte) []byte { return note.On(out, a.Decision.Placements, b.nameOf) })
	}
	b.floor.Rebid(b.now, c.run, a.Decision.Placements)
	b.limit(i)
	return nil
}

// limit sets the limit of the run of contract i, if its rates are agreed. The limit is its
// deadline, or the time at which its charges reach its budget if that is earlier.
func (b *Broker) limit(i int32) {
	c := &b.contracts[i]
	if !c.rated {
		return
	}
	until := c.Due()
	if until <= b.now {
		until = math.Inf(1)
	}
	if c.phase == contracts.Running {
		until = min(until, b.floor.RunsOut(b.now, c.run))
	}
	b.floor.Limit(c.run, until)
}

// exhausted handles contract i when its run has reached a limit that is not its deadline, or
// has continued after its deadline. It ends the contract if the charges have reached the
// budget, and otherwise sets a new limit. It returns false for contracts without agreed rates
// and for contracts whose deadline has been reached.
func (b *Broker) exhausted(i int32) (handled bool, err error) {
	c := &b.contracts[i]
	due := c.Due()
	switch {
	case !c.rated || c.phase != contracts.Running || b.now == due || b.now > due && !c.SLA.GoesOn():
		return false, nil
	case b.floor.RunsOut(b.now, c.run) > b.now+8*contracts.Moment(b.now):
		b.limit(i)
		return true, nil
	}
	b.freed = true
	k := b.floor.Remove(b.now, c.run)
	on := contracts.OnFinish
	if over := b.caseOf(c, k); !over.Worked() {
		on = contracts.OnSpend
	}
	return true, b.over(i, on, k)
}

// record asks the teller to record a note, if notes are enabled.
func (b *Broker) record(kind bank.Kind, contract int64, note func([]byte) []byte) error {
	t, ok := b.Teller.(recording)
	if !ok || !b.Notes {
		return nil
	}
	b.scratch.note = note(b.scratch.note[:0])
	return t.Record(b.now, kind, contract, b.scratch.note)
}

// nameOf returns the name of h.
func (b *Broker) nameOf(h hosts.ID) string { return b.Fleet[h].Spec().Name }
