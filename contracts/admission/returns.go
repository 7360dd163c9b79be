package admission

import (
	"math"

	"bourse/contracts"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// Returns says what hosts return without and with one more task, as two
// [sharing.Plan] would, bit for bit, without making them.
//
// # Design
//
// Of a promise time changes only what is left of it, so the rest is kept by host,
// in one piece of memory, until a task comes or goes there. The two plans have all
// tasks but the last in common, and most of those the same share in both. Hosts
// that surely lose by the task are not planned at all: see [returns.loses].
type returns struct {
	sharing.SLAOptions
	hosts []tally

	// Of the host at hand.
	node  sharing.Node
	speed float64
	offer sharing.Promise // the task that may come

	// By task of the host at hand.
	left []float64 // s
	span []float64 // until its deadline, s
	need []float64 // processors
	base []float64 // what it returns on the share that it needs
}

// A tally is what is kept of a host.
type tally struct {
	tasks []pledge
	top   int     // the task of highest rank, the first of equals
	rank  float64 // its rank
	losses
}

// A pledge is a [sharing.Promise] less what time does to it.
type pledge struct {
	work, rate, at float64 // estimated work that is left at an instant, and how fast it goes
	due, target    float64 // instants
	keep           float64
	rank           float64
	sharing.Terms
}

// stands returns what is left of k at now on a host of that speed, the span until
// its deadline and that by which it is meant to be done, in seconds.
func (k *pledge) stands(now, speed float64) (left, span, by float64) {
	span = k.due - now
	return (k.work - k.rate*(now-k.at)) / speed, span, max(span, k.target-now)
}

// returns returns what k returns on that share.
func (k *pledge) returns(left, span, share float64) float64 {
	return k.Return(k.Utility(k.Delay(left, span, share)))
}

// see looks at the hosts that have changed.
func (p *returns) see(v contracts.View) {
	changed, anew := news(v, len(p.hosts))
	if anew {
		p.hosts = make([]tally, v.Fleet())
	}
	for _, h := range changed {
		p.look(h, v)
	}
}

// look takes down what is on h.
func (p *returns) look(h hosts.ID, v contracts.View) {
	t, on := &p.hosts[h], v.On(h)
	*t = tally{tasks: t.tasks[:0], losses: losses{until: math.Inf(-1)}}
	for i := range on {
		s := &on[i]
		c := v.Contract(s.Contract)
		k := pledge{
			work: c.Work - s.Done, rate: s.Rate, at: s.At, due: c.Due(), target: s.Target, keep: s.Need,
			Terms: sharing.TermsOf(&c.Request),
		}
		if p.Late == "pressure" {
			k.target = math.Inf(-1) // its deadline counts
		}
		if k.rank = k.Rank(); i == 0 || k.rank > t.rank {
			t.top, t.rank = i, k.rank
		}
		t.tasks = append(t.tasks, k)
	}
}

// face makes a host of that spec, and a task of r as of now, those at hand.
func (p *returns) face(now float64, r *contracts.Request, spec *hosts.Spec) {
	p.node = sharing.NodeOf(spec)
	if p.speed != spec.Speed {
		p.speed, p.offer = spec.Speed, offer(now, r, spec.Speed)
	}
}

// weigh returns what h, the host at hand, returns with the task at hand too, and
// whether it is suitable. It does not know where the tasks there do not fit as they
// are, or where some are assumed to be in time that are not.
func (p *returns) weigh(now float64, h hosts.ID) (with float64, suits, known bool) {
	t := &p.hosts[h]
	a := p.arrives(t)
	if p.loses(now, t, &a) {
		return 0, false, true
	}
	sums := p.needs(now, t, a.top)
	if sums.total > p.node.Size+sliver {
		return 0, false, false
	}
	before := division{most: p.node.Most, spare: max(0, p.node.Size-sums.total)}
	sums.add(a.need, a.Hard, a.top == len(t.tasks))
	after, fits := sums.divide(p.node)
	if !fits {
		return 0, false, p.Protect == "strict"
	}
	without := 0.0
	for i := range t.tasks {
		k := &t.tasks[i]
		one, other, need := p.base[i], p.base[i], p.need[i]
		if share := before.share(need, k.Hard, i == t.top); share != need {
			one = k.returns(p.left[i], p.span[i], share)
		}
		if share := after.share(need, k.Hard, i == a.top); share != need {
			other = k.returns(p.left[i], p.span[i], share)
		}
		without += one
		with += other
	}
	delay := a.Delay(a.Left, a.Span, after.share(a.need, a.Hard, a.top == len(t.tasks)))
	with += a.Return(a.Utility(delay))
	if with < without {
		return with, false, true
	}
	return with, !a.Hard || delay == 0, true
}

// An arrival is the task at hand, as it comes to a host.
type arrival struct {
	*sharing.Promise
	need float64 // processors
	top  int     // the task of highest rank once it is there; it is itself the last
}

func (p *returns) arrives(t *tally) arrival {
	a := arrival{&p.offer, min(p.node.Most, sharing.Required(p.offer.Left, p.offer.Target, 0)), t.top}
	if len(t.tasks) == 0 || a.Rank() > t.rank {
		a.top = len(t.tasks)
	}
	return a
}

// needs fills in how the tasks stand and what they return on what they need, and
// returns the sums of the needs.
func (p *returns) needs(now float64, t *tally, top int) (sums needSums) {
	if n := len(t.tasks); n > len(p.left) {
		p.left, p.span, p.need, p.base = make([]float64, 2*n), make([]float64, 2*n), make([]float64, 2*n), make([]float64, 2*n)
	}
	for i := range t.tasks {
		k := &t.tasks[i]
		left, span, by := k.stands(now, p.speed)
		required := sharing.Required(left, by, k.keep)
		need := min(p.node.Most, required)
		p.left[i], p.span[i], p.need[i] = left, span, need
		sums.add(need, k.Hard, i == top)
		if by == span && required <= p.node.Most && span > sharing.Tick {
			p.base[i] = k.rank // on left/span it is in time, to rounding
		} else {
			p.base[i] = k.returns(left, span, need)
		}
	}
	return sums
}

// NeedSums are sums of needs, in processors.
type needSums struct {
	total, hard, others float64
	top                 float64 // of the top task, unless it is hard
}

func (s *needSums) add(need float64, hard, top bool) {
	s.total += need
	switch {
	case hard:
		s.hard += need
	case top:
		s.top = need
	default:
		s.others += need
	}
}

// divide divides n as [sharing.Plan] does. It returns false if hard tasks and the
// top one do not fit.
func (s *needSums) divide(n sharing.Node) (division, bool) {
	if s.total <= n.Size+sliver {
		return division{most: n.Most, spare: max(0, n.Size-s.total)}, true
	}
	room := max(0, n.Size-s.hard)
	return division{cut: true, room: room, factor: sharing.Part(room, s.top, s.others)}, s.hard+s.top <= n.Size+sliver
}

// A division says what the tasks on a host get.
type division struct {
	most  float64 // that one can use
	spare float64 // that the top one gets beside
	cut   bool    // needs exceed the host, and then:

	room   float64 // what hard ones leave
	factor float64 // what others get of their need
}

func (d *division) share(need float64, hard, top bool) float64 {
	switch {
	case !d.cut && top:
		return min(d.most, need+d.spare)
	case !d.cut || hard:
		return need
	case top:
		return min(need, d.room)
	}
	return need * d.factor
}
