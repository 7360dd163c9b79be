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
	"bourse/contracts/sharing"
	"bourse/hosts"
	"bourse/hosts/remote"
)

// Quote returns the lowest budget at which the market would accept t now, and reports whether
// such a budget exists. It ignores the budget in t. If a request with this budget is sent
// immediately, the market accepts it.
//
// Quote also returns the charges of a contract with this budget by resource, at present prices. An
// amount is the rate multiplied by the time that the work takes at present shares, at most the
// deadline. There are no charges if the contract would pay only for processors, or would not run
// now.
func (m *Market) Quote(ctx context.Context, t order.Terms) (least bank.Amount, charges []Charge, ok bool, err error) {
	if err := enter(ctx, m.quoting); err != nil {
		return least, nil, false, err
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

func (m *Market) quote(ctx context.Context, t order.Terms) (least bank.Amount, charges []Charge, ok bool, err error) {
	if err := enter(ctx, m.turning); err != nil {
		return least, nil, false, err
	}
	m.mu.Lock()
	now, counts := max(m.world.Clock.Now(), m.core.now), m.core.config.Counts
	decide, quick := m.core.tries(now)
	finish := sync.OnceFunc(func() {
		m.mu.Unlock()
		<-m.turning
	})
	defer finish()
	if m.core.lacks(&t) != contracts.None {
		return least, nil, false, nil
	}
	var holds contracts.Request // what each node holds
	m.core.needs(&holds, &t, m.conf.amountsOf(&t, remote.Limits{}))
	if !quick {
		c := m.core.copy()
		finish()
		decide = func(r *contracts.Request) (attempt, error) { return c.decide(now, r) }
	}
	var accepted attempt // of the lowest budget that was accepted
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
		var o attempt
		if o, err = decide(&r); o.verdict != contracts.Accept {
			return false
		}
		accepted = o
		return true
	}
	lo, hi := int64(0), int64(1) // lo is rejected, hi is accepted
	for !accepts(hi) {
		if err != nil || hi > mostBudget {
			return bank.Amount{}, nil, false, err
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
	if err != nil {
		return bank.Amount{}, nil, false, err
	}
	t.Budget = bank.Micros(hi)
	r := t.Request()
	rates, speed := accepted.expect()
	charges, err = expected(&r, rates, speed, counts)
	return t.Budget, charges, err == nil, err
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

// An attempt is the verdict on a request that is tried. If the request is accepted, expect returns the charges by
// resource and the work per second just after its placement. It may be called until the next request
// is decided.
type attempt struct {
	verdict contracts.Verdict
	expect  func() (rates []broker.Charge, speed float64)
}

// tries returns a function that decides a request at time now. The function is valid while the
// market does not change. If ok is false, there is no function, because the policy does not decide
// at submission, the sharing rule has no fixed shares or an event is due. The function copies the policy and the random state for each
// request, so every request is decided under the same conditions. It does not modify contracts or
// hosts.
func (k *core) tries(now float64) (decide func(r *contracts.Request) (attempt, error), ok bool) {
	type parts struct {
		policy contracts.Decider
		ties   *rand.Rand
	}
	p, ok := admission.Decides(k.broker.Policy)
	_, fixed := k.config.Sharing.(sharing.FixedShares)
	was := parts{p, k.broker.Ties}
	return func(r *contracts.Request) (attempt, error) {
		s := memo.Copy(&was)
		d := k.broker.Try(now, r, s.policy, s.ties)
		return attempt{d.Verdict, func() ([]broker.Charge, float64) { return k.broker.Expect(r, d.Placements) }}, nil
	}, ok && fixed && k.broker.Next() > now
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

// decide decides a request. It assumes that the owner has enough money.
func (t *trial) decide(now float64, r *contracts.Request) (attempt, error) {
	b := t.market(broker.Credit{})
	if err := b.Advance(now); err != nil {
		return attempt{}, err
	}
	d, err := b.Submit(now, r, hosts.Task{Work: math.Inf(1)})
	if err != nil {
		return attempt{}, err
	}
	return attempt{d.Verdict, func() ([]broker.Charge, float64) {
		b.Next() // allocate processors
		return b.Charges(r.ID), b.Rate(r.ID)
	}}, nil
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
