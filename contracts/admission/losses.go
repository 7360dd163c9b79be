package admission

import (
	"math"

	"bourse/contracts"
	"bourse/contracts/sharing"
)

// Losses are what is known of a host for some time: bounds, all on the side of
// making it look better than it is with one more task.
//
// # Design
//
// Where needs do not fit, soft tasks are cut to a part f of their need. Each then
// ends later by 1/f - 1 times the span until it was to end, so what a host loses
// is that times one sum over its tasks, which is linear in time. The needs that f
// is made of hardly change while nobody comes or goes: each moves one way, so the
// ends of an interval bound them.
type losses struct {
	until  float64 // the instant up to which the rest holds; -Inf if nothing is known yet
	vague  bool    // nothing can be known before the host's next event
	hard   float64 // what hard tasks need, but for the top one, at least
	others float64 // what soft ones need, but for the top one, at least

	// Of the soft tasks but the top one, by a = penalty rate / runtime / deadline:
	pace  float64 // sum of a; $/s² for each second of delay
	ends  float64 // sum of a times the instant at which it is meant to be done
	slack float64 // what delays too small to count may take from what is lost
	mass  float64 // all that is summed in a return, without its sign
}

// What is asked of bounds, so that rounding cannot make them wrong.
const (
	excess = 1e-4 // processors by which needs must exceed a host to surely do so
	doubt  = 1e-5 // of a loss
	speck  = 1e-9 // of all that is summed
	grain  = 1e11 // moments that they must hold for
)

// bound fills in what is known of a host from now on.
func (p *returns) bound(now float64, t *tally) {
	t.losses = losses{vague: true}
	span := math.Inf(1)
	for i := range t.tasks {
		x := t.tasks[i].course(now, p.speed)
		span = min(span, x.steady()/2)
	}
	if !(span > grain*contracts.Moment(now)) {
		return
	}
	most := 0.0
	for i := range t.tasks {
		k := &t.tasks[i]
		x := k.course(now, p.speed)
		from, to := min(p.node.Most, x.need(0)), min(p.node.Most, x.need(span))
		most += max(from, to)
		t.mass += math.Abs(k.rank)
		if i == t.top {
			continue
		}
		if k.Hard {
			t.hard += min(from, to)
			continue
		}
		t.others += min(from, to)
		if x.left > sharing.Tick {
			a, end := pace(&k.Terms), max(k.due, k.target)
			t.pace += a
			t.ends += a * end
			t.slack += a * uncounted(&k.Terms)
			t.mass += a * (end - k.due)
		}
	}
	if most <= p.node.Size+sliver/2 {
		t.until, t.vague = now+span, false
	}
}

// course returns what k will need from now on.
func (k *pledge) course(now, speed float64) course {
	left, _, by := k.stands(now, speed)
	return course{left, by, k.rate / speed, k.keep}
}

// pace returns what a second of delay takes from what a task returns, at least.
func pace(t *sharing.Terms) float64 {
	if !math.IsInf(t.Penalty.Max, 1) {
		return 0
	}
	return t.Penalty.Rate / t.Runtime / t.Deadline
}

// uncounted returns twice the delay that is none, s.
func uncounted(t *sharing.Terms) float64 {
	return 2 * (sharing.Tick + contracts.Tolerance*t.Deadline)
}

// loses reports whether a host surely returns less with a, or surely cannot
// protect whom it must. It may be wrong only in saying no.
func (p *returns) loses(now float64, t *tally, a *arrival) bool {
	if len(t.tasks) == 0 || t.vague || p.Protect != "strict" {
		return false
	}
	if now > t.until {
		if p.bound(now, t); t.vague {
			return false
		}
	}
	sums := needSums{hard: t.hard, others: t.others}
	x := t.tasks[t.top].course(now, p.speed)
	sums.add(min(p.node.Most, x.need(0)), t.tasks[t.top].Hard, a.top == t.top)
	sums.add(a.need, a.Hard, a.top != t.top)
	room := p.node.Size - sums.hard - sums.top
	over := sums.others - room
	if over <= excess || room <= excess {
		return room < -excess
	}
	ends, slack := t.ends-t.pace*now, t.slack
	if !a.Hard && a.top == t.top {
		own := pace(&a.Terms)
		ends += own * a.Target
		slack += own * uncounted(&a.Terms)
	}
	gain := a.Rank()
	return gain+speck*t.mass < (1-doubt)*ends*over/room-slack
}
