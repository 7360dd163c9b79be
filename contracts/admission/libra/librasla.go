package libra

import (
	"math"
	"math/rand/v2"
	"slices"

	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/bidding"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// noReturn means that too few hosts would have a higher return with the request, or would
// complete it in time.
const noReturn contracts.Reason = "too few hosts return more with it"

// LibraSLA admits a request if enough hosts have at least the same return with the request as
// without it (SLA, Algorithm 1). If the deadline of the request is hard, these hosts must also
// complete it in time. It chooses the suitable hosts with the highest return.
//
// The return of a host is the sum of utility / runtime / deadline over its tasks (SLA, eq. 5
// and 6). Utility is the budget minus penalties for delay. [sharing.Plan] computes it.
type LibraSLA struct { //nolint:revive // the type has the name used in the paper
	ReturnOptions
	chooser
	hosts    []occupancy
	returns  []float64       // highest possible return of each host: the return if all its tasks end in time
	bounds   []bound         // capacity that the hard tasks of each host do not need
	offer    sharing.Promise // promise of the request
	old, new sharing.Plan
}

// ReturnOptions are the options of librasla.
type ReturnOptions struct {
	sharing.SLAOptions `yaml:",inline"`
	Current            string `yaml:"current" validate:"oneof=recompute stored" doc:"return of a host without the request: recompute (now) or stored (at its last event)"`
}

// newLibraSLA returns a librasla policy with the decoded options.
func newLibraSLA(decode func(any) error, _ bidding.Strategy, _ *rand.Rand) (contracts.Policy, error) {
	o := ReturnOptions{sharing.DefaultSLA(), "recompute"}
	err := decode(&o)
	return admission.Immediate(&LibraSLA{
		ReturnOptions: o,
		old:           sharing.Plan{SLAOptions: o.SLAOptions}, new: sharing.Plan{SLAOptions: o.SLAOptions},
	}), err
}

// Decide implements [contracts.Decider]. Decide rejects a request whose deadline does not
// exceed its estimate, because the paper assumes that there are no such requests.
func (p *LibraSLA) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	p.see(now, v)
	if r.Span(now) <= r.Work {
		return contracts.Decision{Reason: contracts.TooLate}
	}
	p.begin(r)
	p.offer = offer(now, r)
	rank, strict := p.offer.Rank(), p.offer.Hard && p.ReturnOptions.Protect == "strict"
	for h := range hosts.ID(v.Fleet()) {
		if p.returns[h]+rank <= -p.limit() {
			continue // the hosts found return at least as much as this host can
		}
		if b := &p.bounds[h]; strict && b.full(now, min(r.Work, b.most*p.offer.Span), p.offer.Span) {
			continue // the hard tasks would exceed the host
		}
		switch {
		case !contracts.Eligible(h, r, v):
		case p.suits(now, r, v, h):
			p.add(h, most(p.new.Return))
		default:
			p.bounds[h] = p.hosts[h].bound(now, v.Spec(h))
		}
	}
	return p.choose(r, noReturn)
}

// most returns the rank of a host with the given return. The highest return has the lowest
// rank. Relative differences of up to 1e-12 are treated as rounding.
func most(returns float64) float64 {
	const digits = 40 // number of retained binary digits, of 52
	rounded := math.Float64bits(returns) + 1<<(52-digits-1)
	return -math.Float64frombits(rounded &^ (1<<(52-digits) - 1))
}

// suits reports whether h is suitable for a task of r. It plans h with the task and, if
// necessary, without it.
func (p *LibraSLA) suits(now float64, r *contracts.Request, v contracts.View, h hosts.ID) bool {
	spec := v.Spec(h)
	node := sharing.NodeOf(spec)
	tasks := p.standing(now, h, spec.Speed)
	n := len(tasks)
	p.offer.Left = r.Work / spec.Speed
	with := append(tasks, p.offer)
	// With protect: strict, the plan must be feasible, which means that all hard tasks receive
	// the shares that they need.
	if p.new.Divide(node, with); p.ReturnOptions.Protect == "strict" && !p.new.Feasible {
		return false
	}
	if p.new.Judge(with); math.IsInf(p.new.Return, -1) || !r.SLA.Soft && p.new.Delay[n] != 0 {
		return false
	}
	// With current: stored, the return without the request is the return computed at the
	// host's last event.
	if p.Current == "stored" && n > 0 {
		p.standing(v.On(h)[0].At, h, spec.Speed)
	}
	p.old.Make(node, tasks)
	return p.new.Return >= p.old.Return
}

// offer returns the promise of one node of r at now on a host of speed 1. A request
// that is placed again has only its remaining time.
func offer(now float64, r *contracts.Request) sharing.Promise {
	p := sharing.Offer(r, 1)
	if r.Repeat {
		p.Span = r.Due() - now
		p.Target = p.Span
	}
	return p
}

// An occupancy stores the state of the tasks on a host since a task last started or ended
// there.
type occupancy struct {
	tasks []sharing.Promise
	goes  []course // courses of the tasks, in the same order
}

// A course stores the values from which the time-dependent parts of a promise are computed.
type course struct {
	work, rate, at float64 // estimated work left at time at, and work done per second since then
	due, target    float64 // deadline and target, times in s
}

// see updates the data of the hosts that have changed.
func (p *LibraSLA) see(now float64, v contracts.View) {
	changed, all := admission.Changed(v, len(p.hosts))
	if all {
		p.hosts, p.returns, p.bounds = make([]occupancy, v.Fleet()), make([]float64, v.Fleet()), make([]bound, v.Fleet())
	}
	for _, h := range changed {
		l, on := &p.hosts[h], v.On(h)
		l.tasks, l.goes = l.tasks[:0], l.goes[:0]
		p.returns[h] = 0
		for i := range on {
			s := &on[i]
			c := v.Contract(s.Contract)
			t := sharing.Promise{Keep: s.Need, Terms: sharing.TermsOf(&c.Request)}
			l.tasks = append(l.tasks, t)
			p.returns[h] += t.Rank()
			l.goes = append(l.goes, course{c.Work - s.Done, s.Rate, s.At, c.Due(), s.Target})
		}
		l.tasks = slices.Grow(l.tasks, 1) // room for a new task
		p.bounds[h] = l.bound(now, v.Spec(h))
	}
}

// bound returns the bound of the capacity that the hard tasks do not need, computed at now. As
// in [boundOf], the need of a task stays above a straight line.
func (l *occupancy) bound(now float64, spec *hosts.Spec) bound {
	n := sharing.NodeOf(spec)
	b := bound{at: now, free: (n.Size + margin) * spec.Speed, most: n.Most * spec.Speed}
	for i := range l.tasks {
		t, x := &l.tasks[i], &l.goes[i]
		left, span := x.work-x.rate*(now-x.at), max(x.due, x.target)-now
		if !t.Hard || span < 1 {
			continue
		}
		if b.free -= min(b.most, sharing.Required(left/spec.Speed, span, t.Keep)*spec.Speed); left > sharing.Tick*spec.Speed {
			b.gain += x.rate / span
		}
	}
	return b
}

// standing returns the tasks on h with their state at now.
func (p *LibraSLA) standing(now float64, h hosts.ID, speed float64) []sharing.Promise {
	l := &p.hosts[h]
	for i := range l.tasks {
		t, x := &l.tasks[i], &l.goes[i]
		t.Left, t.Span = (x.work-x.rate*(now-x.at))/speed, x.due-now
		t.Target = max(t.Span, x.target-now)
	}
	return l.tasks
}
