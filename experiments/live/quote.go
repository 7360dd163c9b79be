package live

import (
	"context"
	"math"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/broker"
	"bourse/contracts/memo"
	"bourse/contracts/order"
	"bourse/hosts"
	"bourse/hosts/remote"
)

// Quote returns the lowest budget at which the market accepts t now, ignoring the budget in
// t, and whether there is one. A request with that budget is accepted if it is sent
// immediately.
func (m *Market) Quote(ctx context.Context, t order.Terms) (least bank.Amount, ok bool, err error) {
	select {
	case m.quoting <- struct{}{}:
		defer func() { <-m.quoting }()
		return m.quote(ctx, t)
	case <-ctx.Done():
		return least, false, ctx.Err()
	}
}

// An Owed is the penalty if a host or the market delivers too little, as fractions of the
// contract's budget: Part is owed if none of the work is done, and proportionally less if
// some is; at most Most is owed.
type Owed struct{ Part, Most float64 }

// Owed returns the penalty of contracts of a class.
func (m *Market) Owed(class string) Owed {
	p := m.conf.Promises.of(m.conf.classOf(class))
	return Owed{p.Penalty, p.Most}
}

func (m *Market) quote(ctx context.Context, t order.Terms) (least bank.Amount, ok bool, err error) {
	select {
	case m.turning <- struct{}{}:
	case <-ctx.Done():
		return least, false, ctx.Err()
	}
	m.mu.Lock()
	now := max(m.world.Clock.Now(), m.core.now)
	c := m.core.copy()
	m.mu.Unlock()
	<-m.turning
	accepts := func(micros int64) bool {
		if err == nil && ctx.Err() != nil {
			err = ctx.Err()
		}
		if err != nil {
			return false
		}
		t.Budget = bank.Micros(micros)
		var d contracts.Verdict
		d, err = c.decide(now, &t)
		return d == contracts.Accept
	}
	lo, hi := int64(0), int64(1) // rejected, accepted
	for !accepts(hi) {
		if err != nil || hi > mostBudget {
			return bank.Amount{}, false, err
		}
		lo, hi = hi, 4*hi
	}
	for hi-lo > 1 && err == nil {
		if mid := lo + (hi-lo)/2; accepts(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return bank.Micros(hi), err == nil, err
}

// mostBudget is the largest budget to try, in micro-dollars.
const mostBudget = math.MaxInt64 / 8

// A trial is a copy of a market for trying requests.
type trial struct {
	config   broker.Config
	memo     *broker.Memo
	machines *[]*remote.Machine
}

func (k *core) copy() *trial {
	var all []*remote.Machine
	for _, h := range k.hosts {
		all = append(all, h.machine)
	}
	t := &trial{config: k.config, memo: memo.Copy(k.broker.Memo(), broker.Fixed()), machines: memo.Copy(&all)}
	t.config.Owners = append([]bank.Account(nil), k.broker.Owners...)
	return t
}

// decide returns the decision on a request, assuming that its owner can pay.
func (t *trial) decide(now float64, terms *order.Terms) (contracts.Verdict, error) {
	r := terms.Request()
	if r.Validate() != nil {
		return contracts.Reject, nil // it is no rate
	}
	b := t.market(broker.Credit{})
	if err := b.Advance(now); err != nil {
		return contracts.Reject, err
	}
	r.ID, r.Submit = math.MaxInt64, now
	d, err := b.Submit(now, &r, hosts.Task{Work: math.Inf(1)})
	if err != nil {
		return contracts.Reject, err
	}
	return d.Verdict, nil
}

// market returns the copied market, in which other requests may be tried afterwards.
func (t *trial) market(teller broker.Teller) *broker.Broker {
	c := t.config
	c.Fleet, c.Teller, c.Notes = nil, teller, false
	for _, m := range *memo.Copy(t.machines) {
		c.Fleet = append(c.Fleet, m)
	}
	b := new(broker.Broker)
	b.Recall(c, memo.Copy(t.memo, broker.Fixed()))
	return b
}
