package admission

import (
	"math"
	"math/rand/v2"

	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// noReturn says that too few hosts return more with it, or end it in time.
const noReturn contracts.Reason = "too few hosts return more with it"

// LibraSLA admits a request if enough hosts return at least as much with it as
// without, and end it in time if its deadline is hard (SLA, Algorithm 1). It
// takes those that then return most. What hosts return is what [sharing.Plan]
// makes of them.
type LibraSLA struct {
	ReturnOptions
	chooser
	returns
	tasks    []sharing.Promise
	old, new sharing.Plan
}

// ReturnOptions are the options of librasla.
type ReturnOptions struct {
	sharing.SLAOptions `yaml:",inline"`
	Current            string `yaml:"current" validate:"oneof=recompute stored" doc:"what a host returns without the request: recompute (as of now) or stored (as of its last event)"`
}

func newLibraSLA(decode func(any) error, _ bidding.Strategy, _ *rand.Rand) (contracts.Decider, error) {
	o := ReturnOptions{sharing.DefaultSLA(), "recompute"}
	err := decode(&o)
	return &LibraSLA{
		ReturnOptions: o, returns: returns{SLAOptions: o.SLAOptions},
		old: sharing.Plan{SLAOptions: o.SLAOptions}, new: sharing.Plan{SLAOptions: o.SLAOptions},
	}, err
}

// Decide implements [contracts.Decider]. A request whose deadline is not above its
// estimate is rejected: the paper assumes that there is none.
func (p *LibraSLA) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	brief := p.Current == "recompute"
	if brief {
		p.see(v)
	}
	if span(now, r) <= r.Work {
		return contracts.Decision{Reason: contracts.TooLate}
	}
	p.found, p.speed = p.found[:0], 0
	for h := range hosts.ID(v.Fleet()) {
		if !holds(h, r, v) {
			continue
		}
		if brief {
			p.face(now, r, v.Spec(h))
			if with, suits, known := p.weigh(now, h); known {
				if suits {
					p.add(h, most(with))
				}
				continue
			}
		}
		if p.suits(now, r, v, h) {
			p.add(h, most(p.new.Return))
		}
	}
	return p.choose(r, noReturn)
}

// most returns the rank of a host that returns so much: those that return most are
// first, and differences up to 1e-12 of it are rounding.
func most(returns float64) float64 {
	const digits = 40 // of 52 in binary
	rounded := math.Float64bits(returns) + 1<<(52-digits-1)
	return -math.Float64frombits(rounded &^ (1<<(52-digits) - 1))
}

// suits plans h without and with a task of r, and reports whether it is suitable.
func (p *LibraSLA) suits(now float64, r *contracts.Request, v contracts.View, h hosts.ID) bool {
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

// offer is a node of r on a host of that speed, as of now: if it is placed again, it has
// what is left of its time.
func offer(now float64, r *contracts.Request, speed float64) sharing.Promise {
	p := sharing.Offer(r, speed)
	if r.Repeat {
		p.Span = r.Due() - now
		p.Target = p.Span
	}
	return p
}

// list fills in the tasks on h as of now.
func (p *LibraSLA) list(now float64, v contracts.View, h hosts.ID) {
	p.tasks = p.tasks[:0]
	on, speed := v.On(h), v.Spec(h).Speed
	for i := range on {
		p.tasks = append(p.tasks, sharing.PromiseOf(now, &on[i], v.Contract(on[i].Contract), speed))
	}
}
