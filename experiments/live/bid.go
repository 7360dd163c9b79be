package live

import (
	"context"
	"errors"
	"fmt"

	"bourse/bank"
	bankorder "bourse/bank/order"
	"bourse/contracts"
	"bourse/contracts/broker"
	"bourse/contracts/order"
)

// Bid changes the budget of a contract, and therefore its bids. It requires a signed order of
// the owner.
func (m *Market) Bid(ctx context.Context, signed []byte) (*Answer, error) {
	s, err := m.check(ctx, signed, "bid")
	if err != nil {
		return nil, err
	}
	if _, _, err := order.ParseBid(s.Order); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOrder, err)
	}
	r, err := m.ask(ctx, message{Bid: string(signed)})
	if err != nil {
		return nil, err
	}
	return r.answer, nil
}

// A bid is an order that changes the budget of a contract.
type bid struct {
	contract *Contract
	id       string // id of the order, with the account
	signed   []byte
}

// rebid changes the budget of a contract on behalf of its owner.
func (k *core) rebid(text string, out *result) error {
	signed, err := bankorder.Open([]byte(text))
	if err != nil {
		return fmt.Errorf("an accepted order: %w", err)
	}
	id, budget, err := order.ParseBid(signed.Order)
	if err != nil {
		return fmt.Errorf("an accepted order: %w", err)
	}
	id = whole(k.number, id)
	c := k.open[id]
	if c == nil || c.Account != signed.Value("account") {
		out.err = fmt.Errorf("%w: %d of %s", ErrNoContract, id, signed.Value("account"))
		return nil
	}
	k.calls.bid, k.calls.last, k.calls.why = &bid{c, signed.Request(), []byte(text)}, "", ""
	d := &contracts.Decision{Reason: contracts.NotRunning}
	if c.Project != "" {
		d.Reason = contracts.FixedPrice // the right to spend covers only the first budget
	} else if c.State != heldWord {
		d, err = k.broker.Rebid(k.now, contracts.ID(id), budget)
	}
	if errors.Is(err, broker.ErrNoContract) {
		out.err = fmt.Errorf("%w: %d", ErrNoContract, id)
		return nil
	} else if err != nil {
		return err
	}
	out.answer = &Answer{
		Contract: id, At: k.now, Verdict: d.Verdict.String(), Reason: string(d.Reason), Decision: d.AppendJSON(nil),
		Receipt: k.calls.last, Why: k.calls.why, kept: k.calls.why == "",
	}
	if d.Verdict == contracts.Accept {
		c.changes(budget)
		k.broker.Next() // allocate processors
		c.look(k)
		out.answer.Places = c.Places
	}
	return nil
}

// changes sets the budget of c.
func (c *Contract) changes(budget bank.Amount) {
	if c.least = c.lowest(); budget.Cmp(c.least) < 0 {
		c.least = budget
	}
	c.Budget = budget
}

// lowest returns the lowest budget that c has had. Penalties are fractions of this amount.
// Otherwise an owner who expects a penalty could raise the budget just before it is due, or
// pay little until then.
func (c *Contract) lowest() bank.Amount {
	if c.least.Sign() > 0 {
		return c.least
	}
	return c.Budget
}
