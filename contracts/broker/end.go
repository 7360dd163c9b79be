package broker

import (
	"fmt"
	"math"
	"slices"

	"bourse/bank"
	"bourse/contracts"

	"bourse/contracts/note"
	"bourse/contracts/settlement"
	"bourse/hosts"
)

// remove takes contract i off the floor and ends it.
func (b *Broker) remove(i int32, on contracts.Cause) error {
	c := &b.contracts[i]
	b.freed = b.freed || c.phase == contracts.Running
	return b.end(i, on, b.floor.Remove(b.now, c.run))
}

// end ends contract i, which has left the floor with the result k. It judges, bills and settles
// the contract, pays any penalty, and appends the contract to the ended contracts.
func (b *Broker) end(i int32, on contracts.Cause, k *contracts.Contract) error {
	c := &b.contracts[i]
	b.license(c, -1)
	from := c.phase
	if from == contracts.Waiting {
		b.unwait(i)
	}
	over, spent := b.caseOf(c, k), on == contracts.OnSpend
	over.Exhausted = spent
	v := over.Judge(c.phase.Next(on))
	bill, err := over.Bill(b.Payment.Whole || k.Gang, &v, b.scratch.pay[:0])
	if err != nil {
		return fmt.Errorf("settle %d: %w", c.ID, err)
	}
	b.scratch.pay = bill.Pay
	if _, err := b.Teller.Settle(b.now, int64(c.ID), bill.Pay, b.verdict(k, &v, spent, bill.Penalty)); err != nil {
		return fmt.Errorf("settle %d: %w", c.ID, err)
	}
	n := len(b.ended)
	b.ended = slices.Grow(b.ended, 1)[:n+1] // the code below sets every field of the new element
	e := &b.ended[n]
	if e.Contract = *k; k.Gang && len(k.Placements) > 1 {
		e.Placements = slices.Clone(k.Placements)
	} else {
		e.Placements = nil // the floor owns the slice and reuses it
	}
	e.Outcome, e.From, e.Ended = v.Outcome, from, b.now
	e.ByDue, e.Delay, e.Paid = v.ByDue, v.Delay, bill.Paid
	e.Owed = bill.Penalty
	if e.Charged = nil; b.Patience > 0 {
		e.Charged = chargedFor(b.floor.Arrears(c.run), k.Placements)
	}
	e.Penalty, err = b.penalize(c, &bill)
	b.gone(i)
	return err
}

// caseOf returns the input of settlement for c, which has ended with the result k.
func (b *Broker) caseOf(c *contract, k *contracts.Contract) settlement.Case {
	work, end := c.task.Work, b.now
	if math.IsInf(work, 1) {
		work = c.Work // the true work of a program is unknown, so the estimate replaces it
	}
	if c.task.Until > 0 {
		end = max(k.Admitted, min(end, c.task.Until)) // the hosts stopped the contract at that time, even if their reports arrived later
	}
	return settlement.Case{
		Request: &c.Request, Work: work, Measured: b.Patience > 0, Exited: exited(k.Placements), Admitted: k.Admitted, End: end, ByDue: c.byDue, Price: c.price,
		Nodes: k.Placements, Arrears: b.floor.Arrears(c.run), Hosts: b.hosts,
		Rated: c.rated,
	}
}

// chargedFor returns the sum of the charges of the given placements by kind of resource, or nil if
// all of them are for processors.
func chargedFor(all ...[]contracts.Placement) []float64 {
	by, held := make([]float64, len(contracts.ByKind{})), false
	for _, on := range all {
		for i := range on {
			for k, x := range on[i].By() {
				by[k] += x
			}
			held = held || on[i].Charged != nil
		}
	}
	if !held {
		return nil
	}
	return by
}

// exited reports whether the program of every node ended successfully.
func exited(nodes []contracts.Placement) bool {
	for i := range nodes {
		if nodes[i].End != hosts.Exited {
			return false
		}
	}
	return true
}

// penalize pays the penalty of bill, or as much of it as the debtors can pay, to the owner of
// c. It returns the amount paid.
func (b *Broker) penalize(c *contract, bill *settlement.Bill) (bank.Amount, error) {
	if bill.Penalty.Sign() == 0 {
		return bill.Penalty, nil
	}
	b.scratch.debits = bill.Debits(b.Provider, b.scratch.debits[:0])
	return b.Teller.Penalty(b.now, int64(c.ID), b.scratch.debits, c.Owner, nil)
}

// terms, reason and verdict return the notes of an admission, a rejection and a settlement.
// The note is empty unless Config.Notes is set. It is valid until the next call of any of
// these methods.
func (b *Broker) terms(c *contract, d *contracts.Decision, booked bool) []byte {
	n := &b.scratch.note
	if *n = (*n)[:0]; b.Notes {
		t := note.Terms{Decision: d, Request: &c.Request, Booked: booked, Floor: b.floorOf(booked), Name: b.nameOf, Promised: b.Payment.Promised}
		if s, ok := b.Teller.(sparing); ok {
			t.Spare = s.Spare()
		}
		if !booked {
			t.Held = b.held(c, d)
		}
		if c.Licences != nil {
			t.Licensed = &b.Licences
		}
		if b.Promise != nil {
			t.Part, t.Most = b.Promise(c.Class)
		}
		*n = t.Append(*n)
	}
	return *n
}

// held returns the terms of c for resources other than processors, when c is placed as in
// decision d. It returns nil if no such resource has a price or a floor price, or if c holds
// none.
func (b *Broker) held(c *contract, d *contracts.Decision) *note.Held {
	v := &b.floor
	if !v.PricesHeld() || c.Needs.Min.Resources.Zero() && c.Needs.Max.Resources.Zero() {
		return nil
	}
	h := &note.Held{Name: v.KindName}
	for _, pl := range d.Placements {
		holds := c.Needs.Holds(v.Spec(pl.Host), v.Room(pl.Host))
		var met [hosts.Kinds]int64
		for _, k := range v.Priced() {
			if holds.Of(k) > 0 {
				met[k] = int64(v.PriceOf(pl.Host, k))
			}
		}
		h.Holds, h.Met = append(h.Holds, holds), append(h.Met, met)
		if f := v.Floors(pl.Host); f != nil {
			h.Floors = *f
		}
	}
	return h
}

// floorOf returns the floor price of a contract's terms, in dollars per second and processor.
func (b *Broker) floorOf(booked bool) float64 {
	if booked || b.Payment.noFloor() {
		return 0
	}
	return b.Least[hosts.CPU]
}

func (b *Broker) reason(d *contracts.Decision) []byte {
	n := &b.scratch.note
	if *n = (*n)[:0]; b.Notes {
		*n = d.AppendJSON(*n)
	}
	return *n
}

func (b *Broker) verdict(k *contracts.Contract, v *settlement.Verdict, spent bool, penalty bank.Amount) []byte {
	n := &b.scratch.note
	if *n = (*n)[:0]; b.Notes {
		said := note.Verdict{
			State: v.Outcome.State(), Work: k.Total(), Needed: v.Needed, ByDue: v.ByDue, Killed: v.Outcome == contracts.Killed, Spent: spent,
			Losses: k.Losses, Wasted: k.Wasted, Penalty: penalty,
		}
		if b.Patience > 0 && b.floorOf(k.Gang) > 0 && v.Outcome == contracts.Fulfilled {
			said.Unused = max(0, v.ByDue-v.Done)
		}
		if v.Outcome == contracts.Unstarted {
			said.Fault = "command"
		}
		*n = said.Append(*n)
	}
	return *n
}
