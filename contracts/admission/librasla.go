package admission

import (
	"math"
	"math/rand/v2"
	"slices"

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
	hosts    []occupancy
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
		ReturnOptions: o,
		old:           sharing.Plan{SLAOptions: o.SLAOptions}, new: sharing.Plan{SLAOptions: o.SLAOptions},
	}, err
}

// Decide implements [contracts.Decider]. A request whose deadline is not above its
// estimate is rejected: the paper assumes that there is none.
func (p *LibraSLA) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	p.see(v)
	if span(now, r) <= r.Work {
		return contracts.Decision{Reason: contracts.TooLate}
	}
	p.found = p.found[:0]
	for h := range hosts.ID(v.Fleet()) {
		if holds(h, r, v) && p.suits(now, r, v, h) {
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

// suits plans h with a task of r and then, if it may be suitable, without, and reports
// whether it is.
func (p *LibraSLA) suits(now float64, r *contracts.Request, v contracts.View, h hosts.ID) bool {
	spec := v.Spec(h)
	node := sharing.NodeOf(spec)
	tasks := p.standing(now, h, spec.Speed)
	n := len(tasks)
	with := append(tasks, offer(now, r, spec.Speed))
	if p.new.Divide(node, with); p.ReturnOptions.Protect == "strict" && !p.new.Feasible {
		return false
	}
	if p.new.Judge(with); math.IsInf(p.new.Return, -1) || !r.SLA.Soft && p.new.Delay[n] != 0 {
		return false
	}
	if p.Current == "stored" && n > 0 {
		p.standing(v.On(h)[0].At, h, spec.Speed)
	}
	p.old.Make(node, tasks)
	return p.new.Return >= p.old.Return
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

// An occupancy is the tasks on a host since one last came or went there.
type occupancy struct {
	tasks []sharing.Promise
	goes  []course // by task
}

// A course is what time changes of a promise.
type course struct {
	work, rate, at float64 // estimated work that is left at an instant, and how fast it goes
	due, target    float64 // instants
}

// see looks at the hosts that have changed.
func (p *LibraSLA) see(v contracts.View) {
	changed, anew := news(v, len(p.hosts))
	if anew {
		p.hosts = make([]occupancy, v.Fleet())
	}
	for _, h := range changed {
		l, on := &p.hosts[h], v.On(h)
		l.tasks, l.goes = l.tasks[:0], l.goes[:0]
		for i := range on {
			s := &on[i]
			c := v.Contract(s.Contract)
			l.tasks = append(l.tasks, sharing.Promise{Keep: s.Need, Terms: sharing.TermsOf(&c.Request)})
			l.goes = append(l.goes, course{c.Work - s.Done, s.Rate, s.At, c.Due(), s.Target})
		}
		l.tasks = slices.Grow(l.tasks, 1) // for the one that may come
	}
}

// standing returns the tasks on h as they stand at now.
func (p *LibraSLA) standing(now float64, h hosts.ID, speed float64) []sharing.Promise {
	l := &p.hosts[h]
	for i := range l.tasks {
		t, x := &l.tasks[i], &l.goes[i]
		t.Left, t.Span = (x.work-x.rate*(now-x.at))/speed, x.due-now
		t.Target = max(t.Span, x.target-now)
	}
	return l.tasks
}
