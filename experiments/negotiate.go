package experiments

import (
	"errors"
	"math"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/broker"
	"bourse/experiments/explain"
	"bourse/experiments/scenario"
	"bourse/hosts"
	"bourse/workloadgen"
)

// negotiates reports whether users receive offers under c.
func negotiates(c *scenario.Choice) bool { return c.Negotiate != "" && c.Negotiate != scenario.Never }

// negotiate returns the terms that the owner of job n accepts if its request would be
// rejected, or nil if it accepts none, and the number of offers made. The offers are the
// smallest changes of budget, deadline, nodes and class, one at a time, with which the policy
// would accept the job now and its owner could pay. The user is inelastic: an offer is worth
// the value of the job if the job is expected to finish by the user's deadline, minus its
// expected cost. Of the offers with a positive utility, a rational user takes the best one and
// an impatient user the one that finishes first.
//
// Submitting the job again later is not an offer, because the later state of the market is
// unknown.
func (in *arrivals) negotiate(n int, now float64) (best *terms, offers int, err error) {
	if !negotiates(&in.offer.Choice) {
		return nil, 0, nil
	}
	m := &moment{n: n, poor: true}
	m.take(in, now)
	if in.arena.trial == nil {
		in.arena.trial = newArena()
	}
	f := &future{m, in.arena.trial}
	asked := m.terms()
	first, _, err := f.atOnce(&asked)
	if err != nil || first.verdict != contracts.Reject {
		return nil, 0, err
	}
	most := 0.0
	for _, d := range m.dimensions(asked, 0) {
		found, err := explain.Least(d.Most, func(steps int64) (bool, error) {
			t := terms{d.At(steps)}
			a, _, err := f.atOnce(&t)
			return a.verdict == contracts.Accept, err
		})
		if err != nil {
			return nil, 0, err
		}
		if found.Steps == 0 {
			continue
		}
		offers++
		t := terms{d.At(found.Steps)}
		_, offered, err := f.atOnce(&t)
		if err != nil {
			return nil, 0, err
		}
		utility := asked.Budget.Float64() - offered.cost
		if utility <= 0 || t.Deadline > asked.Deadline || offered.end > now+asked.Deadline {
			continue // late work has no value
		}
		if in.offer.Negotiate == scenario.Impatient {
			utility = 1 / (offered.end - now)
		}
		if utility > most {
			best, most = &t, utility
		}
	}
	return best, offers, nil
}

// An expectation is the expected end and cost of a contract when it is admitted, assuming that
// nothing changes.
type expectation struct {
	end  float64 // completion time in seconds
	cost float64 // in dollars
}

// atOnce returns the immediate decision on the job if it asks for t, or Defer if it would have
// to wait. If the job is accepted, e is the expectation.
func (b *future) atOnce(t *terms) (a answer, e expectation, err error) {
	in := b.resume(t)
	b.arena.broker.Teller = &purse{ledger: b.ledger, held: make(map[bank.Account]bank.Amount)}
	in.answer, in.soon = &answer{verdict: contracts.Defer}, true
	err = in.Advance(b.moment.now)
	b.arena.spare.give(in.run)
	if !errors.Is(err, errDecided) {
		return a, e, errors.Join(err, errUndecided)
	}
	if a = *in.answer; a.verdict != contracts.Accept {
		return a, e, nil
	}
	return a, b.expect(t), nil
}

var errUndecided = errors.New("a job was not submitted at its instant")

// A purse is a teller that checks whether owners could pay, but books nothing.
type purse struct {
	broker.Credit
	ledger *bank.Ledger
	held   map[bank.Account]bank.Amount
}

// Hold implements [broker.Teller].
func (p *purse) Hold(_ float64, _ int64, owner bank.Account, a bank.Amount, _ []byte) error {
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

// expect returns the expectation for the job of b, which has been admitted. A job that waits
// for promised hosts is expected to finish at its deadline and to cost its whole budget.
// Contracts that pay their whole budget cost that much however soon they finish.
func (b *future) expect(t *terms) expectation {
	id := contracts.ID(b.arena.plan[b.n].ID)
	b.arena.broker.Next() // allocates the shares
	v := b.arena.broker.View()
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
	e := expectation{b.moment.now + t.Deadline, t.Budget.Float64()}
	if rate > 0 {
		e.end = b.moment.now + work/rate
		if !b.setting.payment.Whole {
			e.cost = math.Min(e.cost, pays*work/rate)
		}
	}
	return e
}

// taken returns j with the terms t of the offer that its user accepted.
func (t *terms) taken(j workloadgen.Job) *workloadgen.Job {
	each := float64(j.Nodes) / float64(t.Nodes)
	j.Runtime, j.Estimate, j.Nodes, j.Parts, j.Class = j.Runtime*each, j.Estimate*each, t.Nodes, min(j.Parts, t.Nodes), t.Class
	return &j
}
