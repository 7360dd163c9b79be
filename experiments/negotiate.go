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

// negotiates reports whether offers are made under c.
func negotiates(c *scenario.Choice) bool { return c.Negotiate != "" && c.Negotiate != scenario.Never }

// negotiate returns what the owner of job n asks for, whose request would be refused as it
// stands: the terms of an offer, or nil if it takes none; and how many it was made. Offers are
// the least changes of budget, deadline, nodes and class, one at a time, with which the policy
// would accept it now and its owner could pay for it. The user is inelastic: an offer is worth
// the value of the job if it may be expected to be done by the deadline that the user has, less
// what it may be expected to cost. Of the offers with a positive utility a rational user takes
// the best, an impatient one that which is done first.
//
// That it might be asked again later is no offer: what the market will be like then nobody
// knows.
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
			continue // all the work is worth nothing if it may be done later
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

// An expectation is what may be expected of a contract at the instant at which it is let in,
// if all goes on as then.
type expectation struct {
	end  float64 // instant at which it is done, s
	cost float64 // $
}

// atOnce returns what is decided at once of the job if it asks for t: Defer, if it is to wait;
// and if it is accepted, what may be expected.
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

// A purse is a teller who looks whether an owner could pay, and books nothing.
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

// expect returns what may be expected of the job of b, which has been let in. One that waits
// for its hosts, which are promised, is done by its deadline for its budget; that is what all
// cost whose whole budget is paid, however soon they are done.
func (b *future) expect(t *terms) expectation {
	id := contracts.ID(b.arena.plan[b.n].ID)
	b.arena.broker.Next() // shares are dealt
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

// taken returns the job that is done on t, an offer made to j.
func (t *terms) taken(j workloadgen.Job) *workloadgen.Job {
	each := float64(j.Nodes) / float64(t.Nodes)
	j.Runtime, j.Estimate, j.Nodes, j.Parts, j.Class = j.Runtime*each, j.Estimate*each, t.Nodes, min(j.Parts, t.Nodes), t.Class
	return &j
}
