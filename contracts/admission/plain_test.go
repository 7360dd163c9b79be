package admission

import (
	"math"

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
		return &plainSLA{LibraSLA: d, old: d.old, new: d.new}
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

// plainSLA makes both plans of every host, of tasks as they stand.
type plainSLA struct {
	*LibraSLA
	tasks    []sharing.Promise
	old, new sharing.Plan
}

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

// suits plans h without and with a task of r, and reports whether it is suitable.
func (p *plainSLA) suits(now float64, r *contracts.Request, v contracts.View, h hosts.ID) bool {
	on, spec := v.On(h), v.Spec(h)
	node := sharing.NodeOf(spec)
	then := now
	if p.Current == "stored" && len(on) > 0 {
		then = on[0].At
	}
	p.list(then, v, h)
	p.old.Make(node, p.tasks)
	p.list(now, v, h)
	p.tasks = append(p.tasks, offer(now, r, spec.Speed))
	p.new.Make(node, p.tasks)
	switch {
	case p.new.Return < p.old.Return || math.IsInf(p.new.Return, -1):
		return false
	case p.ReturnOptions.Protect == "strict" && !p.new.Feasible:
		return false
	}
	return r.SLA.Soft || p.new.Delay[len(on)] == 0
}

// list fills in the tasks on h as of now.
func (p *plainSLA) list(now float64, v contracts.View, h hosts.ID) {
	p.tasks = p.tasks[:0]
	on, speed := v.On(h), v.Spec(h).Speed
	for i := range on {
		p.tasks = append(p.tasks, sharing.PromiseOf(now, &on[i], v.Contract(on[i].Contract), speed))
	}
}
