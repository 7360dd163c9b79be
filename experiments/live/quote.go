package live

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/broker"
	"bourse/contracts/memo"
	"bourse/contracts/order"
	"bourse/hosts"
	"bourse/hosts/remote"
)

// Quote returns the lowest budget at which the market would accept t now, and reports whether
// such a budget exists. It ignores the budget in t. If a request with this budget is sent
// immediately, the market accepts it.
func (m *Market) Quote(ctx context.Context, t order.Terms) (least bank.Amount, ok bool, err error) {
	if err := enter(ctx, m.quoting); err != nil {
		return least, false, err
	}
	defer func() { <-m.quoting }()
	return m.quote(ctx, t)
}

// enter waits for a place in room.
func enter(ctx context.Context, room chan<- struct{}) error {
	select {
	case room <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// An Owed is the penalty that is owed if a host or the market delivers too little. It is
// specified in fractions of the contract's budget. Part is owed if no work is done, and
// proportionally less if some work is done. At most Most is owed.
type Owed struct{ Part, Most float64 }

// Owed returns the penalty for contracts of a class.
func (m *Market) Owed(class string) Owed {
	p := m.conf.Promises.of(m.conf.classOf(class))
	return Owed{p.Penalty, p.Most}
}

func (m *Market) quote(ctx context.Context, t order.Terms) (least bank.Amount, ok bool, err error) {
	if err := enter(ctx, m.turning); err != nil {
		return least, false, err
	}
	m.mu.Lock()
	now := max(m.world.Clock.Now(), m.core.now)
	decide, quick := m.core.tries(now)
	finish := sync.OnceFunc(func() {
		m.mu.Unlock()
		<-m.turning
	})
	defer finish()
	if m.core.lacks(&t) != contracts.None {
		return least, false, nil
	}
	var holds contracts.Request // what each node holds
	m.core.needs(&holds, &t, m.conf.memoryOf(&t, 0))
	if !quick {
		c := m.core.copy()
		finish()
		decide = func(r *contracts.Request) (contracts.Verdict, error) { return c.decide(now, r) }
	}
	accepts := func(micros int64) bool {
		if err == nil && ctx.Err() != nil {
			err = ctx.Err()
		}
		if err != nil {
			return false
		}
		t.Budget = bank.Micros(micros)
		r := t.Request()
		r.Needs.Min, r.Licences = holds.Needs.Min, holds.Licences
		if r.Validate() != nil {
			return false // the resulting rate is out of range
		}
		r.ID, r.Submit = math.MaxInt64, now
		var d contracts.Verdict
		d, err = decide(&r)
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

// Expects returns the charges of a contract with terms t by resource, at present prices. An amount
// is the rate multiplied by the time that the work takes at present shares, at most the deadline.
// Expects returns nil if the contract would pay only for processors, or would not run now.
func (m *Market) Expects(ctx context.Context, t order.Terms) ([]Charge, error) {
	if err := enter(ctx, m.quoting); err != nil { // at most one copy of the market at a time
		return nil, err
	}
	defer func() { <-m.quoting }()
	if err := enter(ctx, m.turning); err != nil {
		return nil, err
	}
	m.mu.Lock()
	k := m.core
	now, counts := max(m.world.Clock.Now(), k.now), k.config.Counts
	r := t.Request()
	r.ID, r.Submit = math.MaxInt64, now
	known := k.lacks(&t) == contracts.None
	if known {
		k.needs(&r, &t, m.conf.memoryOf(&t, 0))
	}
	var c *trial
	if held := r.Needs.Min.Resources; known && (!held.Zero() || r.Licences != nil) {
		c = k.copy()
	}
	m.mu.Unlock()
	<-m.turning
	if c == nil || r.Validate() != nil {
		return nil, nil
	}
	_, b, err := c.submit(now, &r)
	if err != nil {
		return nil, err
	}
	b.Next() // allocate processors
	return expected(&r, b.Charges(r.ID), b.Rate(r.ID), counts)
}

// expected returns the charges of r, which are given as rates, if it does the given work per second.
func expected(r *contracts.Request, rates []broker.Charge, speed float64, counts []string) ([]Charge, error) {
	span := r.SLA.Deadline
	if speed > 0 {
		span = min(span, r.Total()/speed)
	}
	for i := range rates {
		rates[i].Owed = rates[i].Rate * span
	}
	return chargesOf(rates, r.SLA.Budget, counts)
}

// tries returns a function that returns the verdict on a request at time now. The function
// is valid while the market does not change. If ok is false, there is no function, because
// the policy does not decide at submission or an event is due. The function copies the
// policy and the random state for each request, so every request is decided under the same
// conditions. It does not modify contracts or hosts.
func (k *core) tries(now float64) (decide func(r *contracts.Request) (contracts.Verdict, error), ok bool) {
	type parts struct {
		policy contracts.Decider
		ties   *rand.Rand
	}
	p, ok := admission.Decides(k.broker.Policy)
	was := parts{p, k.broker.Ties}
	return func(r *contracts.Request) (contracts.Verdict, error) {
		s := memo.Copy(&was)
		return k.broker.Try(now, r, s.policy, s.ties), nil
	}, ok && k.broker.Next() > now
}

// mostBudget is the largest budget to try, in micro-dollars.
const mostBudget = math.MaxInt64 / 8

// A trial is a copy of a market that can decide requests without any effect on the market.
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

// decide returns the verdict on a request. It assumes that the owner has enough money.
func (t *trial) decide(now float64, r *contracts.Request) (contracts.Verdict, error) {
	d, _, err := t.submit(now, r)
	return d, err
}

// submit submits a request to a copy of the market, which it returns with the verdict.
func (t *trial) submit(now float64, r *contracts.Request) (contracts.Verdict, *broker.Broker, error) {
	b := t.market(broker.Credit{})
	if err := b.Advance(now); err != nil {
		return contracts.Reject, nil, err
	}
	d, err := b.Submit(now, r, hosts.Task{Work: math.Inf(1)})
	if err != nil {
		return contracts.Reject, nil, err
	}
	return d.Verdict, b, nil
}

// market returns a copy of the market. Other requests may be tried on the copy afterwards.
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
