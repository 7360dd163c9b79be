package admission

import (
	"math/rand/v2"

	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// risky says that on too few hosts there is no risk of unequal delays with it.
const risky contracts.Reason = "too few hosts are without risk"

// LibraRisk admits a request if enough hosts are without risk when it runs there
// too: if it delays either none of their tasks, or all by the same part of the
// time that they have left (Risk, Algorithm 1). An idle host therefore takes any
// request, even one whose estimate exceeds its deadline: it may be an
// over-estimate.
type LibraRisk struct {
	RiskOptions
	chooser
	projection projection
}

// RiskOptions are the options of librarisk.
type RiskOptions struct {
	Order      string        `yaml:"order" validate:"oneof=index bestfit" doc:"hosts to take: index (the first, Algorithm 1) or bestfit (those with least left)"`
	Projection string        `yaml:"projection" validate:"oneof=dynamic incumbent static" doc:"shares on which delays are projected: dynamic, incumbent (the newcomer has what others leave) or static (which accepts nearly everything)"`
	Spare      sharing.Spare `yaml:"spare" validate:"oneof=proportional equal none" doc:"processors that nobody needs, as the sharing rule allocates them: proportional, equal or none"`
}

func newLibraRisk(decode func(any) error, _ bidding.Strategy, _ *rand.Rand) (contracts.Decider, error) {
	o := RiskOptions{Order: "index", Projection: "dynamic", Spare: sharing.Proportional}
	err := decode(&o)
	return &LibraRisk{RiskOptions: o, projection: projection{Spare: o.Spare, Shares: o.Projection}}, err
}

// Decide implements [contracts.Decider].
func (p *LibraRisk) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	p.found = p.found[:0]
	for h := range hosts.ID(v.Fleet()) {
		if !holds(h, r, v) || !p.safe(now, r, v, h) {
			continue
		}
		if p.Order == "index" {
			if p.add(h, 0); len(p.found) == r.Nodes {
				break
			}
			continue
		}
		left, _ := after(now, r, v, h)
		p.add(h, fit(left))
	}
	if len(p.found) < r.Nodes {
		return p.reject(risky)
	}
	if p.Order == "index" {
		return accept(p.first(r))
	}
	return accept(p.best(r))
}

// proved reports whether what lemmas says holds of n.
func (p *LibraRisk) proved(n sharing.Node) bool { return p.Projection == "dynamic" && n.Most == n.Size }

// safe reports whether h is without risk once it has a task of r.
func (p *LibraRisk) safe(now float64, r *contracts.Request, v contracts.View, h hosts.ID) bool {
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

// load fills in the projection with the tasks on h and one of r.
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

// project reports whether the tasks are without risk on n, by running it forward.
func (p *projection) project(n sharing.Node) bool {
	for _, span := range p.Span {
		if span <= sharing.Tick {
			return false
		}
	}
	p.delays(n)
	return RiskOf(p.Delay, p.Span).Zero()
}

// lemmas is project, where a single task can use all of n, without running it
// forward. There is no risk if and only if
//
//  1. there is one task: whatever its delay, it deviates from no other; or
//  2. needs sum to no more than n: nobody is late; or
//  3. all deadlines are equal: all are slowed alike.
//
// For if needs sum to T > n and deadlines differ, the first deadline delay is T/n
// and that of the last to end is less.
func (p *projection) lemmas(n sharing.Node) bool {
	total := p.total()
	if total <= n.Size+sliver {
		return true
	}
	first, last := p.Span[0], p.Span[0]
	for i, span := range p.Span {
		if p.Left[i] <= sharing.Tick && p.Keep[i] == 0 {
			return false // it needs nothing and is in time, the others are not
		}
		first, last = min(first, span), max(last, span)
	}
	return first > sharing.Tick && last-first <= sliver*last
}
