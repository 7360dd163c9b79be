package libra

import (
	"math/rand/v2"

	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/bidding"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// risky means that on too few hosts all tasks would be without risk of unequal delays.
const risky contracts.Reason = "too few hosts are without risk"

// LibraRisk admits a request if enough hosts would be without risk with it (Risk, Algorithm
// 1). A host is without risk if its tasks are all in time, or if all are delayed by the same
// fraction of the time that they have left.
//
// An idle host therefore accepts any request, even one whose estimate exceeds its deadline.
// This is intended: estimates are often too high, and nobody else on the host can be harmed.
type LibraRisk struct { //nolint:revive // the name in the paper
	RiskOptions
	chooser
	projection projection
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
	p.found = p.found[:0]
	for h := range hosts.ID(v.Fleet()) {
		if !admission.Fits(h, r, v) || !p.safe(now, r, v, h) {
			continue
		}
		// In order of index, the first suitable hosts are taken, so the search can stop early.
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

// proved reports whether the method lemmas is valid for n.
func (p *LibraRisk) proved(n sharing.Node) bool { return p.Projection == "dynamic" && n.Most == n.Size }

// safe reports whether h is without risk with a task of r added.
func (p *LibraRisk) safe(now float64, r *contracts.Request, v contracts.View, h hosts.ID) bool {
	// An idle host is safe, because a single task has no other to deviate from.
	if len(v.On(h)) == 0 {
		return true
	}
	p.load(now, r, v, h)
	n := sharing.NodeOf(v.Spec(h))
	if p.proved(n) {
		return p.projection.lemmas(n)
	}
	return p.projection.project(n)
}

// load fills the projection with the tasks on h and one of r.
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
	p.delays(n)
	return RiskOf(p.Delay, p.Span).Zero()
}

// lemmas gives the same result as project without simulation, if a single task can use all of
// n and shares are dynamic. There is no risk if and only if
//
//  1. there is only one task, whose delay cannot differ from another; or
//  2. the needs add up to at most n, so no task is late; or
//  3. all deadlines are equal, so all tasks are delayed alike.
//
// Proof of "only if": suppose that the needs add up to T > n and that deadlines differ. Then
// the first deadline delay is T/n, and that of the last task to end is lower.
func (p *projection) lemmas(n sharing.Node) bool {
	total := p.total()
	if total <= n.Size+sliver {
		return true
	}
	first, last := p.Span[0], p.Span[0]
	for i, span := range p.Span {
		if p.Left[i] <= sharing.Tick && p.Keep[i] == 0 {
			return false // this task needs nothing and is in time, but the others are late
		}
		first, last = min(first, span), max(last, span)
	}
	return first > sharing.Tick && last-first <= sliver*last
}
