package policies

import (
	"cmp"
	"math"
	"slices"

	"bourse/contracts"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// plainSLA is a literal implementation of librasla: it computes both plans of every host from
// the current state of the tasks.
type plainSLA struct {
	current  string
	tasks    []sharing.Promise
	old, new sharing.Plan
}

// newPlainSLA returns a plainSLA with the options of librasla.
func newPlainSLA(o options) *plainSLA {
	p := &plainSLA{current: "recompute"}
	if current, ok := o["current"].(string); ok {
		p.current = current
	}
	terms := sharing.DefaultSLA()
	if err := o.Decode(&terms); err != nil {
		panic(err)
	}
	p.old.SLAOptions, p.new.SLAOptions = terms, terms
	return p
}

func (p *plainSLA) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	if r.Span(now) <= r.Work {
		return contracts.Decision{Reason: contracts.TooLate}
	}
	type host struct {
		hosts.ID
		returns float64 // returns of each host, rounded to 40 binary digits
	}
	var found []host
	for h := range hosts.ID(v.Fleet()) {
		if least := r.Needs.Min.Resources; !v.Unavailable(h) && least.Fit(v.Room(h)) && p.suits(now, r, v, h) {
			fraction, exponent := math.Frexp(p.new.Return)
			found = append(found, host{h, math.Ldexp(math.Round(math.Ldexp(fraction, 41)), exponent-41)})
		}
	}
	if len(found) < r.Nodes {
		return contracts.Decision{Reason: "too few hosts return more with it", Numbers: contracts.Numbers{contracts.Counted("hosts", len(found))}}
	}
	slices.SortStableFunc(found, func(a, b host) int { return -cmp.Compare(a.returns, b.returns) })
	d := contracts.Decision{Verdict: contracts.Accept}
	for _, f := range found[:r.Nodes] {
		d.Placements = append(d.Placements, contracts.Placement{Host: f.ID, Bid: max(1, r.NodeRate())})
	}
	return d
}

// suits plans h without and with a task of r, and reports whether it is suitable.
func (p *plainSLA) suits(now float64, r *contracts.Request, v contracts.View, h hosts.ID) bool {
	on, spec := v.On(h), v.Spec(h)
	node := sharing.NodeOf(spec)
	then := now
	if p.current == "stored" && len(on) > 0 {
		then = on[0].At
	}
	p.list(then, v, h)
	p.old.Make(node, p.tasks)
	p.list(now, v, h)
	own := sharing.Offer(r, spec.Speed)
	if r.Repeat {
		own.Span = r.Due() - now
		own.Target = own.Span
	}
	p.tasks = append(p.tasks, own)
	p.new.Make(node, p.tasks)
	switch {
	case p.new.Return < p.old.Return || math.IsInf(p.new.Return, -1):
		return false
	case p.new.Protect == "strict" && !p.new.Feasible:
		return false
	}
	return r.SLA.Soft || p.new.Delay[len(on)] == 0
}

// list sets tasks to the promises of the tasks on h at now.
func (p *plainSLA) list(now float64, v contracts.View, h hosts.ID) {
	p.tasks = p.tasks[:0]
	on, speed := v.On(h), v.Spec(h).Speed
	for i := range on {
		p.tasks = append(p.tasks, sharing.PromiseOf(now, &on[i], v.Contract(on[i].Contract), speed))
	}
}
