package broker

import (
	"fmt"
	"strconv"

	"bourse/bank"
	"bourse/contracts"
	"bourse/hosts"
)

// end closes contract i: takes what still runs off its hosts, judges it, and
// settles. This is where float64 becomes money.
func (b *Broker) end(now float64, i int32) error {
	c := &b.contracts[i]
	b.due.Remove(i)
	if c.Waiting {
		b.unqueue(i)
	}
	for n := range c.Placements {
		if !c.Placements[n].Left {
			b.stop(now, i, int32(n))
		}
	}
	c.Rate, c.Done = 0, 0
	for n := range c.Placements {
		c.Done += c.Placements[n].Done
	}
	b.judgement(now, c)
	if err := b.settle(now, c); err != nil {
		return fmt.Errorf("settle %d: %w", c.ID, err)
	}
	b.ended = append(b.ended, c.Contract)
	b.ended[len(b.ended)-1].Placements = nil // the place in the arena keeps them
	b.deal(now)
	b.free = append(b.free, i)
	return nil
}

// judgement says what has become of the promise. It is kept if the work that the
// job truly needed was done by the deadline.
func (b *Broker) judgement(now float64, c *contract) {
	c.Ended, c.At, c.State = now, now, contracts.Violated
	if c.cancelled {
		c.State = contracts.Cancelled
	}
	if c.late && c.Late(now) {
		return // ByDue stands as it was at the deadline
	}
	c.ByDue = min(c.Done, c.total())
	if b.worked(c) && !c.cancelled {
		c.State, c.ByDue = contracts.Fulfilled, c.total()
	}
}

// worked reports whether the work of c is done, but for what rounding takes: the
// tolerance, and what its hosts could do in a moment or two at its deadline, or at its
// end if that is later.
func (b *Broker) worked(c *contract) bool {
	due := c.Due()
	if c.OnDemand || due < c.Ended {
		due = c.Ended
	}
	left, lost := 0.0, 0.0
	for n := range c.Placements {
		pl := &c.Placements[n]
		undone := c.task.Work - pl.Done
		rounding := b.rounding(c, pl.Host, due)
		if c.PerHost && undone > rounding {
			return false
		}
		left += undone
		lost += rounding
	}
	return c.PerHost || left <= lost
}

// rounding returns what float64 may lose or add to the work of a node of c on h by the
// instant at: the tolerance, and what the host does in a moment or two.
func (b *Broker) rounding(c *contract, h hosts.ID, at float64) float64 {
	return contracts.Tolerance*c.task.Work + 2*contracts.Moment(at)*b.venues[h].capacity
}

// mostOwed is what an unbounded penalty may come to, in dollars: more than anybody
// has.
const mostOwed = 4e12

// settle pays the owners of the hosts; the rest of the budget goes back. A broken
// promise is then paid for as far as the provider's balance goes.
func (b *Broker) settle(now float64, c *contract) error {
	owed, err := bank.Dollars(min(c.SLA.Penalty.Of(c.Delay()), mostOwed))
	if err != nil {
		return err
	}
	switch {
	case c.Open:
		b.pay = b.pay[:0]
	case b.Payment.Whole || c.Gang:
		owed, err = b.price(c, owed)
	default:
		err = b.charge(c)
	}
	if err != nil {
		return err
	}
	if err := b.possible(c); err != nil {
		return err
	}
	b.note = b.note[:0]
	if b.Notes {
		b.note = c.appendVerdict(b.note, owed)
	}
	if _, err := b.Teller.Settle(now, int64(c.ID), b.pay, b.note); err != nil {
		return err
	}
	return b.penalize(now, c, owed)
}

// possible reports what cannot be true of a contract that is settled.
func (b *Broker) possible(c *contract) error {
	total, rounding := c.total(), 0.0
	for n := range c.Placements {
		rounding += b.rounding(c, c.Placements[n].Host, c.Ended)
	}
	switch {
	case !(c.ByDue >= 0 && c.ByDue <= total):
		return fmt.Errorf("%v of %v work done by the deadline", c.ByDue, total)
	case c.Done > total+rounding:
		return fmt.Errorf("%v of %v work done", c.Done, total)
	case !(c.Admitted >= c.Submit && c.Ended >= c.Admitted):
		return fmt.Errorf("submitted at %v, admitted at %v, ended at %v", c.Submit, c.Admitted, c.Ended)
	case c.Paid.Sign() < 0 || c.Paid.Cmp(c.SLA.Budget) > 0:
		return fmt.Errorf("%v charged of a budget of %v", c.Paid, c.SLA.Budget)
	}
	return nil
}

// charge enters what has accrued on each host, rounded half to even, and never
// more than the budget together.
func (b *Broker) charge(c *contract) (err error) {
	left := c.SLA.Budget
	b.pay = b.pay[:0]
	for _, a := range c.arrears {
		if left, err = b.pays(a.host, a.owed, left); err != nil {
			return err
		}
	}
	for n := range c.Placements {
		if left, err = b.pays(c.Placements[n].Host, c.Placements[n].Owed, left); err != nil {
			return err
		}
	}
	c.Paid, _ = c.SLA.Budget.Sub(left)
	return nil
}

// price enters the price less the penalty, in equal parts, if the work is done, or
// what its owner owes who took it back, and nothing otherwise. It returns what is
// owed beyond the price.
func (b *Broker) price(c *contract, penalty bank.Amount) (owed bank.Amount, err error) {
	b.pay = b.pay[:0]
	if !c.cancelled && !b.worked(c) {
		return penalty, nil
	}
	if penalty.Cmp(c.Price) >= 0 {
		return penalty.Sub(c.Price)
	}
	c.Paid, _ = c.Price.Sub(penalty)
	nodes := int64(len(c.Placements))
	each, rest := c.Paid.Micros()/nodes, c.Paid.Micros()%nodes
	for n := range c.Placements {
		part := each
		if int64(n) < rest {
			part++
		}
		b.pay = append(b.pay, bank.Payment{To: b.Owners[c.Placements[n].Host], Amount: bank.Micros(part)})
	}
	return bank.Amount{}, nil
}

// penalize pays the owner what the provider owes for a broken promise, or as
// much of it as the provider has.
func (b *Broker) penalize(now float64, c *contract, owed bank.Amount) error {
	if has := b.Teller.Balance(b.Provider); has.Cmp(owed) < 0 {
		owed = has
	}
	c.Penalty = owed
	if owed.Sign() == 0 {
		return nil
	}
	return b.Teller.Penalty(now, int64(c.ID), b.Provider, c.Owner, owed, nil)
}

// appendVerdict appends how c ended, and the penalty owed, as one JSON object. Work
// is what its owner asked for, over all nodes; what was truly needed follows where it
// is something else.
func (c *contract) appendVerdict(b []byte, owed bank.Amount) []byte {
	b = append(b, `{"state":"`...)
	b = append(b, c.State.String()...)
	b = append(b, `","work":`...)
	b = strconv.AppendFloat(b, c.Total(), 'g', -1, 64)
	if needed := c.total(); needed != c.Total() {
		b = append(b, `,"needed":`...)
		b = strconv.AppendFloat(b, needed, 'g', -1, 64)
	}
	b = append(b, `,"work_done":`...)
	b = strconv.AppendFloat(b, c.ByDue, 'g', -1, 64)
	if c.Killed {
		b = append(b, `,"killed":true`...)
	}
	if c.Losses > 0 {
		b = append(b, `,"losses":`...)
		b = strconv.AppendInt(b, int64(c.Losses), 10)
		b = append(b, `,"wasted":`...)
		b = strconv.AppendFloat(b, c.Wasted, 'g', -1, 64)
	}
	if owed.Sign() > 0 {
		b = append(b, `,"penalty_owed":"`...)
		b = append(b, owed.String()...)
		b = append(b, '"')
	}
	return append(b, '}')
}
