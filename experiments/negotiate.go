package experiments

import (
	"errors"
	"math"

	"bourse/contracts"
	"bourse/experiments/explain"
	"bourse/experiments/scenario"
	"bourse/hosts"
	"bourse/workloadgen"
)

// negotiate returns what the owner of job n asks for, whose request would be refused as it
// stands: the terms of an offer, or nil if it takes none. Offers are the least changes of
// budget, deadline, nodes and class, one at a time, with which the policy would accept it now. The
// user is inelastic: an offer is worth the value of the job if it may be expected to be done
// by the deadline that the user has, less what it may be expected to cost. Of the offers with a
// positive utility a rational user takes the best, an impatient one that which is done first.
func (in *arrivals) negotiate(n int, now float64) (*terms, error) {
	if u := in.offer.Negotiate; u == "" || u == scenario.Never {
		return nil, nil
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
		return nil, err
	}
	var best *terms
	most := 0.0
	for _, d := range m.dimensions(asked, 0) {
		found, err := explain.Least(d.most, func(steps int64) (bool, error) {
			t := d.at(steps)
			a, _, err := f.atOnce(&t)
			return a.verdict == contracts.Accept, err
		})
		if err != nil {
			return nil, err
		}
		if found.Steps == 0 {
			continue
		}
		t := d.at(found.Steps)
		if t.deadline > asked.deadline {
			continue // done by then it is worth nothing
		}
		_, offered, err := f.atOnce(&t)
		if err != nil {
			return nil, err
		}
		if offered.end > now+asked.deadline {
			continue
		}
		utility := asked.budget.Float64() - offered.cost
		if utility <= 0 {
			continue
		}
		if in.offer.Negotiate == scenario.Impatient {
			utility = 1 / (offered.end - now)
		}
		if utility > most {
			best, most = &t, utility
		}
	}
	return best, nil
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

// expect returns what may be expected of the job of b, which has been let in. One that waits
// for its hosts, which are promised, is done by its deadline for its budget.
func (b *future) expect(t *terms) expectation {
	id := contracts.ID(b.arena.plan[b.n].ID)
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
	budget := t.budget.Float64()
	if rate == 0 {
		return expectation{b.moment.now + t.deadline, budget}
	}
	return expectation{b.moment.now + work/rate, math.Min(budget, pays*work/rate)}
}

// taken makes j the job that is done on t, an offer.
func (t *terms) taken(j *workloadgen.Job) {
	each := float64(j.Nodes) / float64(t.nodes)
	j.Runtime, j.Estimate, j.Nodes, j.Parts, j.Class = j.Runtime*each, j.Estimate*each, t.nodes, min(j.Parts, t.nodes), t.class
}
