package libra

import (
	"math"
	"math/rand/v2"

	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/bidding"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// risky means that too few hosts would be without a risk of unequal delays.
const risky contracts.Reason = "too few hosts are without risk"

// LibraRisk admits a request if enough hosts would be without risk after the admission (Risk,
// Algorithm 1). A host is without risk if all its tasks are in time, or if all are delayed by
// the same fraction of their remaining time.
//
// An idle host therefore accepts any request, even one whose estimate exceeds its deadline.
// This is intended, because estimates are often too high, and no other task on the host could
// be delayed.
type LibraRisk struct { //nolint:revive // the type has the name used in the paper
	RiskOptions
	chooser
	projection projection
	bounds     []bound // bound of each host since its last event
}

// RiskOptions are the options of librarisk.
type RiskOptions struct {
	Order      string        `yaml:"order" validate:"oneof=index bestfit" doc:"hosts to use: index (the first, Algorithm 1) or bestfit (those with the least capacity left)"`
	Projection string        `yaml:"projection" validate:"oneof=dynamic incumbent static" doc:"shares used to project delays: dynamic, incumbent (the new task gets the remainder) or static (which accepts nearly everything)"`
	Spare      sharing.Spare `yaml:"spare" validate:"oneof=proportional equal none" doc:"how the sharing rule allocates processors that no task needs: proportional, equal or none"`
}

// newLibraRisk returns a librarisk policy with the decoded options.
func newLibraRisk(decode func(any) error, _ bidding.Strategy, _ *rand.Rand) (contracts.Policy, error) {
	o := RiskOptions{Order: "index", Projection: "dynamic", Spare: sharing.Proportional}
	err := decode(&o)
	return admission.Immediate(&LibraRisk{RiskOptions: o, projection: projection{Spare: o.Spare, Shares: o.Projection}}), err
}

// Decide implements [contracts.Decider].
func (p *LibraRisk) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	p.see(v)
	p.begin(r)
	for h := range hosts.ID(v.Fleet()) {
		if p.bounds[h].risky(now, r) || !contracts.Eligible(h, r, v) {
			continue
		}
		if !p.safe(now, r, v, h) {
			if p.Projection == "dynamic" {
				p.bounds[h] = boundOf(now, v, h)
			}
			continue
		}
		// Under the order index, the first suitable hosts are chosen, so the search can stop
		// early.
		if p.Order == "index" {
			if p.add(h, 0); len(p.found) == r.Nodes {
				break
			}
			continue
		}
		left, _ := after(now, r, v, h)
		p.add(h, fit(left))
	}
	return p.choose(r, risky)
}

// see resets the bounds of the hosts that have changed.
func (p *LibraRisk) see(v contracts.View) {
	changed, all := admission.Changed(v, len(p.bounds))
	if all {
		p.bounds = make([]bound, v.Fleet())
	}
	for _, h := range changed {
		p.bounds[h] = unknown
	}
}

// risky reports whether the bound proves that the host would not be without risk with a task
// of r (see the method lemmas of projection). If it returns false, the tasks of the host must
// be examined.
func (b *bound) risky(now float64, r *contracts.Request) bool {
	span := r.Due() - now
	switch {
	case b.due-now <= sharing.Tick: // a deadline has passed
		return true
	case span >= 1 && r.Work < b.over*span:
		return true
	case now >= b.till || r.Work > b.most*span || math.Abs(r.Due()-b.due) <= 1e-8*span: // deadlines may all be equal
		return false
	}
	return b.full(now, r.Work, span)
}

// safe reports whether h is without risk with a task of r added.
func (p *LibraRisk) safe(now float64, r *contracts.Request, v contracts.View, h hosts.ID) bool {
	// An idle host is safe, because the delay of a single task cannot differ from other
	// delays.
	if len(v.On(h)) == 0 {
		return true
	}
	p.load(now, r, v, h)
	n := sharing.NodeOf(v.Spec(h))
	if p.Projection == "dynamic" {
		return p.projection.lemmas(n)
	}
	return p.projection.project(n)
}

// load fills the projection with the tasks on h and a task of r.
func (p *LibraRisk) load(now float64, r *contracts.Request, v contracts.View, h hosts.ID) {
	on, spec := v.On(h), v.Spec(h)
	p.projection.Clear()
	for i := range on {
		s := &on[i]
		c := v.Contract(s.Contract)
		p.projection.Add(s.Left(now, c)/spec.Speed, c.Due()-now, s.Need)
	}
	p.projection.Add(r.Work/spec.Speed, r.Due()-now, 0)
}

// project determines by simulation whether the tasks are without risk on n.
func (p *projection) project(n sharing.Node) bool {
	for _, span := range p.Span {
		if span <= sharing.Tick {
			return false
		}
	}
	for p.begin(); len(p.running) > 0; {
		if p.step(n); p.unequal() {
			return false
		}
	}
	return RiskOf(p.Delay, p.Span).Zero()
}

// lemmas returns the same result as project if shares are dynamic. It usually needs no
// simulation. There is no risk in these cases:
//
//  1. there is only one task, whose delay cannot differ from another; or
//  2. the needs add up to at most n, and none exceeds the most m that one task can use, so no
//     task is late; or
//  3. the needs add up to more, none exceeds m, and all deadlines are equal, so all tasks are
//     delayed alike.
//
// There is a risk in all other cases in which no need exceeds m. Proof: suppose that the needs
// s add up to T > n, and that all deadline delays equal δ > 1. Then no task is in time, so n
// is fully used until the end of some task k. After that, only the tasks in a set K are left,
// each with m processors. At that time, task i of K, with deadline d_i, has the part m δ (d_i
// - d_k) of its work s_i d_i left. The work done so far is n δ d_k. Hence
//
//	(n δ - T) d_k = Σ_{not K} s_i (d_i - d_k) + Σ_K (s_i - m δ)(d_i - d_k)
//
// No term of the sums is positive: d_i ≤ d_k outside K, and d_i ≥ d_k and s_i ≤ m δ in K.
// Therefore T is at least n δ. If no need exceeds m, the first task to end is late by T/n.
// Then δ = T/n, all terms are 0, and all deadlines are equal.
//
// If a need s exceeds m, δ is at least s/m. There is therefore also a risk if T is less than n
// s/m, unless n can run all tasks at the same time. All remaining cases are simulated.
func (p *projection) lemmas(n sharing.Node) bool {
	total, most := p.needs()
	switch factor := n.Size / n.Most; {
	case factor == 1 || most <= n.Most:
	case float64(len(p.Left)) >= factor && factor*most > total+sliver*total:
		return false
	default:
		return p.project(n)
	}
	if total <= n.Size+sliver {
		return true
	}
	first, last := p.Span[0], p.Span[0]
	for i, span := range p.Span {
		if p.Left[i] <= sharing.Tick && p.Keep[i] == 0 {
			return false // this task needs nothing and is in time, but the other tasks are late
		}
		first, last = min(first, span), max(last, span)
	}
	return first > sharing.Tick && last-first <= sliver*last
}
