package admission

import (
	"bourse/contracts"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// plainly returns the plain reading of d, which looks at every host and takes no short
// cut: what the Libra family decides by is held against it.
func plainly(d contracts.Decider) contracts.Decider {
	switch d := d.(type) {
	case *Libra:
		return &plainLibra{}
	case *LibraRisk:
		return &plainRisk{LibraRisk: d}
	case *LibraSLA:
		return &plainSLA{LibraSLA: d}
	}
	return d
}

type plainLibra struct{ chooser }

func (p *plainLibra) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	p.found = p.found[:0]
	for h := range hosts.ID(v.Fleet()) {
		if left, ok := after(now, r, v, h); ok && holds(h, r, v) {
			p.add(h, fit(left))
		}
	}
	if len(p.found) < r.Nodes {
		return p.reject(noShare)
	}
	return accept(p.best(r))
}

// plainRisk projects every host that is not idle.
type plainRisk struct{ *LibraRisk }

func (p *plainRisk) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	p.found = p.found[:0]
	for h := range hosts.ID(v.Fleet()) {
		if !holds(h, r, v) {
			continue
		}
		if len(v.On(h)) > 0 {
			if p.load(now, r, v, h); !p.projection.project(sharing.NodeOf(v.Spec(h))) {
				continue
			}
		}
		left, _ := after(now, r, v, h)
		p.add(h, fit(left))
	}
	switch {
	case len(p.found) < r.Nodes:
		return p.reject(risky)
	case p.Order == "index":
		return accept(p.first(r))
	}
	return accept(p.best(r))
}

// plainSLA makes both plans of every host.
type plainSLA struct{ *LibraSLA }

func (p *plainSLA) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	if span(now, r) <= r.Work {
		return contracts.Decision{Reason: contracts.TooLate}
	}
	p.found = p.found[:0]
	for h := range hosts.ID(v.Fleet()) {
		if holds(h, r, v) && p.suits(now, r, v, h) {
			p.add(h, most(p.new.Return))
		}
	}
	if len(p.found) < r.Nodes {
		return p.reject(noReturn)
	}
	return accept(p.best(r))
}
