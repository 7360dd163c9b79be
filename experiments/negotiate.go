package experiments

import (
	"errors"
	"math"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/broker"
	"bourse/experiments/scenario"
	"bourse/hosts"
)

// hooksOf returns the hooks for every run under the negotiation policy o.
func hooksOf(o *offer) []hook {
	if !Negotiates(&o.Choice) {
		return nil
	}
	return []hook{bargain{}}
}

// bargain is the hook that lets the owners of jobs negotiate. If the policy would reject a
// request, the owner receives offers. Each offer is the smallest change to the budget,
// deadline, number of nodes or class with which the policy would accept the job immediately
// and the owner could pay. The user is inelastic. If a job is expected to finish by the user's
// deadline, the offer's utility is the value of the job minus its expected cost. If it would
// finish later, the value counts as zero. Only offers with a positive utility count: a
// rational user takes the best one, and an impatient user takes the one that finishes first.
//
// A later submission is not offered, because the future state of the market is unknown.
type bargain struct{}

func (bargain) decided(int, float64, *contracts.Decision) error { return nil }

func (bargain) before(in *arrivals, n int, now float64) (*submission, error) {
	m := &Snapshot{Position: n, limited: true}
	m.take(in, now)
	if in.workspace.trial == nil {
		in.workspace.trial = newWorkspace()
	}
	f := &Branch{m, in.workspace.trial}
	asked := m.Terms()
	first, _, err := f.atOnce(&asked)
	if err != nil || first.Verdict != contracts.Reject {
		return nil, err
	}
	as, most := new(submission), 0.0
	for _, d := range m.Dimensions(asked, now) {
		found, err := Least(d.Most, func(steps int64) (bool, error) {
			t := d.At(steps)
			a, _, err := f.atOnce(&t)
			return a.Verdict == contracts.Accept, err
		})
		if err != nil {
			return nil, err
		}
		if found.Steps == 0 {
			continue
		}
		as.offers++
		t := d.At(found.Steps)
		_, offered, err := f.atOnce(&t)
		if err != nil {
			return nil, err
		}
		utility := asked.Budget.Float64() - offered.cost
		if utility <= 0 || t.Deadline > asked.Deadline || offered.end > now+asked.Deadline {
			continue // late work has no value
		}
		if in.offer.Negotiate == scenario.Impatient {
			utility = 1 / (offered.end - now)
		}
		if utility > most {
			as.terms, as.taken, most = &t, true, utility
		}
	}
	return as, nil
}

// An expectation is the expected end and cost of a contract at its admission, if nothing
// changes.
type expectation struct {
	end  float64 // completion time in seconds
	cost float64 // in dollars
}

// atOnce returns the immediate decision on the job with terms t, or Defer if the job would
// have to wait. If the job is accepted, e contains its expected end and cost.
func (b *Branch) atOnce(t *Terms) (a Answer, e expectation, err error) {
	in, s := b.resume(t, false)
	q := &question{subject: s, soon: true}
	in.hooks = []hook{q}
	b.own.broker.Teller = &fundsChecker{ledger: b.ledger, held: make(map[bank.Account]bank.Amount)}
	err = in.Advance(b.Now)
	b.own.spare.give(in.run)
	if !errors.Is(err, errDecided) {
		return a, e, errors.Join(err, errUndecided)
	}
	if a = q.Answer; a.Verdict != contracts.Accept {
		return a, e, nil
	}
	return a, b.expect(t), nil
}

var errUndecided = errors.New("a job was not submitted at its arrival time")

// A fundsChecker is a teller that only checks whether owners could pay. It books no entries.
type fundsChecker struct {
	broker.Credit
	ledger *bank.Ledger
	held   map[bank.Account]bank.Amount
}

// Hold implements [broker.Teller].
func (p *fundsChecker) Hold(_ float64, _ int64, owner bank.Account, a bank.Amount, _ []byte) error {
	all, err := p.held[owner].Add(a)
	if err != nil {
		return err
	}
	if has := p.ledger.Balance(owner); all.Cmp(has) > 0 {
		return &bank.Shortfall{Has: has, Needs: all}
	}
	p.held[owner] = all
	return nil
}

// expect returns the expected end and cost of b's job, which has been admitted. If the job
// waits for promised hosts, expect assumes that the job finishes at its deadline and costs its
// whole budget. A contract that always pays its whole budget has this cost even if it finishes
// early.
func (b *Branch) expect(t *Terms) expectation {
	id := contracts.ID(b.own.plan[b.Position].ID)
	b.own.broker.Next() // allocates the shares
	v := b.own.broker.View()
	rate, pays, work := 0.0, 0.0, 0.0
	for h := range hosts.ID(v.Fleet()) {
		for _, on := range v.On(h) {
			if c := v.Contract(on.Contract); c.ID == id {
				rate += on.Rate
				pays += on.Paying
				work = c.Total()
			}
		}
	}
	e := expectation{b.Now + t.Deadline, t.Budget.Float64()}
	if rate > 0 {
		e.end = b.Now + work/rate
		if !b.setting.payment.Whole {
			e.cost = math.Min(e.cost, pays*work/rate)
		}
	}
	return e
}
