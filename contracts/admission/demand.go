package admission

import (
	"math"

	"bourse/contracts"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// A demand knows of each host what its tasks need together at least, so that most of
// the hosts that cannot take another are not looked at. The figures of the papers, 128
// hosts, would do without; a log of 1,152 processors takes a fifth longer then. Who is
// not ruled out is decided by the formula.
//
// # Design
//
// Needs change all the time, but not wildly: until a task comes or goes, an estimate is
// used up or a deadline has passed, each moves one way, so the ends of an interval bound
// it. Intervals are as long as needs move by no more than a 32nd of the host.
type demand struct {
	hosts   []bound
	courses []course

	// Of the request at hand:
	speed float64 // of the host asked about last, 0 if there is none
	need  float64 // what a task of it needs there, processors
}

// A bound is what is known of a host.
type bound struct {
	sharing.Node
	speed float64

	least float64 // what its tasks need at least, processors; +Inf if a deadline has passed
	until float64 // the instant up to which they do
	due   float64 // the deadline of all its tasks, NaN if they differ
}

// see forgets what is known of hosts that have changed. Another request is at hand.
func (d *demand) see(v contracts.View) {
	d.speed = 0
	changed, anew := news(v, len(d.hosts))
	if anew {
		d.hosts = make([]bound, v.Fleet())
		for h := range d.hosts {
			spec := v.Spec(hosts.ID(h))
			d.hosts[h] = bound{Node: sharing.NodeOf(spec), speed: spec.Speed}
		}
	}
	for _, h := range changed {
		d.hosts[h].until = math.Inf(-1)
	}
}

// exceeds reports whether the tasks on h surely need so much that nothing is left for r.
func (d *demand) exceeds(now float64, r *contracts.Request, v contracts.View, h hosts.ID) bool {
	b := &d.hosts[h]
	if b.until <= now {
		d.look(now, h, v)
	}
	if d.speed != b.speed {
		d.speed, d.need = b.speed, sharing.Required(r.Work/b.speed, r.Due()-now, 0)
	}
	return b.least > b.Size-d.need+sliver
}

// look finds the bound of h.
func (d *demand) look(now float64, h hosts.ID, v contracts.View) {
	b, on := &d.hosts[h], v.On(h)
	b.least, b.until, b.due = math.Inf(-1), math.Inf(1), math.NaN()
	if len(on) == 0 {
		return
	}
	d.courses = d.courses[:0]
	b.due = v.Contract(on[0].Contract).Due()
	width := b.Size / 32
	span, slope := math.Inf(1), 0.0
	for i := range on {
		s := &on[i]
		c := v.Contract(s.Contract)
		x := course{s.Left(now, c) / b.speed, c.Due() - now, s.Rate / b.speed, s.Need}
		if x.span <= sharing.Tick {
			b.least = math.Inf(1)
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
		d.courses = append(d.courses, x)
	}
	// What a need has moved by grows faster than time: over a part of the span it
	// is no more than that part of what it is over all of it.
	span = min(span, width/slope)
	least, moved := d.over(span)
	if moved > width {
		span *= width / moved
		least, _ = d.over(span)
	}
	b.least = max(0, least-sliver)
	b.until = max(now+span, math.Nextafter(now, math.Inf(1)))
}

// over returns what the courses need at least in the next span seconds, and by how much
// that may change.
func (d *demand) over(span float64) (least, moved float64) {
	for i := range d.courses {
		from, to := d.courses[i].need(0), d.courses[i].need(span)
		least += min(from, to)
		moved += math.Abs(from - to)
	}
	return least, moved
}
