package admission

import (
	"math"

	"bourse/contracts"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// An order keeps the busy hosts of a fleet roughly in order of what their tasks
// need together, so that a policy asks those few that matter.
//
// # Design
//
// Needs change all the time, but not wildly: until a task comes or goes, an
// estimate is used up or a deadline has passed, each moves one way. So for each
// host an order knows a bound from below, and until when that is right to within
// the width of a bucket; then, or when a task has come or gone, it looks again.
// Bounds only say who need not be asked. What is decided is decided by the
// formula, as it would be for all hosts.
type order struct {
	node  sharing.Node
	speed float64
	width float64 // of a bucket, processors
	alike bool    // all hosts are; otherwise nothing is kept

	hosts   []bounds
	first   [buckets + 2]hosts.ID // a host in each bucket, or none
	ends    ends
	idle    hostSet // hosts with nothing on them, which are in no bucket
	courses []course
}

// bounds are what an order knows of a host.
type bounds struct {
	low        float64 // what its tasks need at least; +Inf if a deadline has passed, -Inf without any
	until      float64 // the instant up to which they do, and need less than width more
	due        float64 // the deadline of all its tasks, NaN if they differ
	bucket     int32   // or none: it is idle, or a deadline has passed
	next, prev hosts.ID
	place      int32 // in ends, or none
}

const (
	buckets = 32 // that make up a host; more needs than fit are in the two above
	none    = -1
)

// see brings o to now. It returns false if hosts differ.
func (o *order) see(now float64, v contracts.View) bool {
	if len(o.hosts) != v.Fleet() {
		o.reset(now, v)
	} else if o.alike {
		for _, h := range v.Changed() {
			o.look(now, h, v)
		}
	}
	for o.alike && o.ends.first() <= now {
		o.look(now, o.ends.heap[0], v)
	}
	return o.alike
}

// reset looks at all hosts for the first time.
func (o *order) reset(now float64, v contracts.View) {
	spec := v.Spec(0)
	*o = order{node: sharing.NodeOf(spec), speed: spec.Speed, alike: true, hosts: make([]bounds, v.Fleet())}
	o.width = o.node.Size / buckets
	o.ends.of = o.hosts
	for k := range o.first {
		o.first[k] = none
	}
	for h := range hosts.ID(v.Fleet()) {
		o.hosts[h] = bounds{bucket: none, place: none}
		o.alike = o.alike && sharing.NodeOf(v.Spec(h)) == o.node && v.Spec(h).Speed == o.speed
	}
	for h := range hosts.ID(v.Fleet()) {
		o.look(now, h, v)
	}
}

// look finds new bounds for h and puts it where they say.
func (o *order) look(now float64, h hosts.ID, v contracts.View) {
	b, on := &o.hosts[h], v.On(h)
	o.unlink(h)
	o.idle.put(h, len(on) == 0)
	b.low, b.until, b.due = math.Inf(-1), math.Inf(1), math.NaN()
	if len(on) > 0 {
		o.bound(now, b, on, v)
		if !math.IsInf(b.low, 1) {
			o.link(h, int32(min(b.low/o.width, buckets+1)))
		}
	}
	o.ends.set(h)
}

// bound fills in b for what is on a host.
func (o *order) bound(now float64, b *bounds, on []contracts.Allocation, v contracts.View) {
	o.courses = o.courses[:0]
	b.due = v.Contract(on[0].Contract).Due()
	span, slope := math.Inf(1), 0.0
	for i := range on {
		s := &on[i]
		c := v.Contract(s.Contract)
		x := course{s.Left(now, c) / o.speed, c.Due() - now, s.Rate / o.speed, s.Need}
		if x.span <= sharing.Tick {
			b.low = math.Inf(1)
			return
		}
		if c.Due() != b.due {
			b.due = math.NaN()
		}
		if math.IsInf(x.span, 1) {
			continue // promised by no instant, it needs nothing
		}
		span = min(span, x.steady())
		slope += math.Abs(x.slope())
		o.courses = append(o.courses, x)
	}
	// What a need has moved by grows faster than time: over a part of the span it
	// is no more than that part of what it is over all of it.
	span = min(span, o.width/slope)
	low, moved := o.over(span)
	if moved > o.width {
		span *= o.width / moved
		low, _ = o.over(span)
	}
	b.low = max(0, low-sliver)
	b.until = max(now+span, math.Nextafter(now, math.Inf(1)))
}

// over returns what the courses need at least in the next span seconds, and by
// how much that may change.
func (o *order) over(span float64) (low, moved float64) {
	for i := range o.courses {
		from, to := o.courses[i].need(0), o.courses[i].need(span)
		low += min(from, to)
		moved += math.Abs(from - to)
	}
	return low, moved
}

// A course is what a task will need: from now on it gets rate processors.
type course struct{ left, span, rate, keep float64 }

// need returns what it needs after t seconds, at most steady.
func (x *course) need(t float64) float64 {
	if x.left <= sharing.Tick {
		return x.keep
	}
	return (x.left - x.rate*t) / (x.span - t)
}

// slope returns how fast need grows at first.
func (x *course) slope() float64 {
	if x.left <= sharing.Tick {
		return 0
	}
	return (x.left/x.span - x.rate) / x.span
}

// steady returns how long the formula stays the same.
func (x *course) steady() float64 {
	steady := x.span - sharing.Tick
	if x.left > sharing.Tick {
		steady = min(steady, (x.left-sharing.Tick)/x.rate)
	}
	return steady
}

// fits enters the hosts in c that a task of r fits on, those that it leaves least
// room on first among them. There may be more if there are as many as r needs.
func (o *order) fits(now float64, r *contracts.Request, v contracts.View, c *chooser) {
	need := sharing.Required(r.Work/o.speed, r.Due()-now, 0)
	left := o.node.Size - need
	if left < -sliver || need > o.node.Most+sliver {
		return
	}
	for k := min(int((left+sliver)/o.width), buckets); k >= 0; k-- {
		for h := o.first[k]; h != none; h = o.hosts[h].next {
			if left, ok := after(now, r, v, h); ok && holds(h, r, v) {
				c.add(h, fit(left))
			}
		}
		// Hosts in lower buckets need less than k+1 widths, so they leave more than
		// that: enough are left with less, and by more than rounding.
		if c.under(fit(left-float64(k+1)*o.width)-4) >= r.Nodes {
			return
		}
	}
	o.idle.take(r, v, fit(left), c)
}

// room returns what a host's tasks may need at most beside one of r.
func (o *order) room(now float64, r *contracts.Request) float64 {
	return o.node.Size - sharing.Required(r.Work/o.speed, r.Due()-now, 0) + sliver
}

// hopeless reports whether h has tasks that surely need more than room, and
// surely not all with the deadline of r.
func (o *order) hopeless(h hosts.ID, r *contracts.Request, room float64) bool {
	b := &o.hosts[h]
	return b.low > room && !(math.Abs(b.due-r.Due()) <= 1e-6*r.SLA.Deadline)
}

// link puts h in bucket k.
func (o *order) link(h hosts.ID, k int32) {
	b := &o.hosts[h]
	b.bucket, b.prev, b.next = k, none, o.first[k]
	if b.next != none {
		o.hosts[b.next].prev = h
	}
	o.first[k] = h
}

// unlink takes h out of its bucket.
func (o *order) unlink(h hosts.ID) {
	b := &o.hosts[h]
	if b.bucket == none {
		return
	}
	if b.next != none {
		o.hosts[b.next].prev = b.prev
	}
	if b.prev != none {
		o.hosts[b.prev].next = b.next
	} else {
		o.first[b.bucket] = b.next
	}
	b.bucket = none
}
