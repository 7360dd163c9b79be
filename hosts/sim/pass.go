package sim

import (
	"math"
	"slices"

	"bourse/hosts"
)

// schedule divides the host and finds the next completion.
func (m *Machine) schedule() {
	v := m.virtual
	if v.bounded {
		m.border()
	}
	span := math.Inf(1)
	v.byV = false
	if v.free > 0 {
		rate, weight := v.room*v.speed, v.weight.hi
		v.pace, v.perV = rate/weight, weight/rate
		span, v.byV = v.seconds(v.due.first(v.tasks).key.minus(v.v)), true
	}
	if v.bounded {
		if e := v.capped.due.first(v.tasks); e != nil {
			if left := max(0, e.key.minus(twoFloat{m.now, v.rest})); left <= span {
				span, v.byV = left, false
			}
		} else {
			v.bounded = len(v.capped.edge.entries)+len(v.edge.entries) > 0
		}
	}
	m.next, v.after = addTo(m.now, v.rest+span)
}

// seconds returns the time that dv of virtual time takes.
func (v *virtual) seconds(dv float64) float64 {
	if dv <= 0 {
		return 0
	}
	return dv * v.perV
}

// flow lets time pass until at, by when nothing completes.
func (m *Machine) flow(at float64) {
	v := m.virtual
	if v.free > 0 {
		v.v = v.v.add(((at - m.now) - v.rest) * v.pace)
	}
	m.now, v.rest = at, 0
}

// finish ends the tasks that complete at the next completion: all whose instants are
// one float, in order of start.
func (m *Machine) finish() {
	v, at, from := m.virtual, m.next, len(m.ended)
	for m.next <= at {
		m.finishDue(at)
		m.schedule()
	}
	if len(m.ended) > from+1 {
		slices.SortFunc(m.ended[from:], func(a, b hosts.Report) int { return v.earlier(a.Slot, b.Slot) })
	}
	m.shrink()
}

// finishDue ends the tasks that complete at the next completion, which is at, by the
// division that there is.
func (m *Machine) finishDue(at float64) {
	v := m.virtual
	to := v.v // V then
	if v.byV {
		to = v.due.entries[0].key
	} else if v.free > 0 {
		to = to.add(max(0, (at-m.now)+(v.after-v.rest)) * v.pace)
	}
	for v.free > 0 {
		e := v.due.first(v.tasks)
		if e.key.minus(to) > 0 {
			break // if it ends within the same float it is next
		}
		slot := e.slot
		m.end(slot, at)
		v.due.pop()
		m.unfree(&v.tasks[slot], &v.cold[slot])
	}
	if v.bounded {
		some := v.byV // the one that is next completes, whatever rounding makes of its instant
		for e := v.capped.due.first(v.tasks); e != nil && (!some || e.key.hi <= at); e = v.capped.due.first(v.tasks) {
			slot, place := e.slot, m.place[e.slot]
			some = true
			m.end(slot, at)
			v.capped.due.pop()
			if place == capped {
				m.uncap(&v.cold[slot])
			}
		}
	}
	if v.free > 0 {
		v.v = to
	}
	m.now, v.rest = at, v.after
}

// end reports the task in slot as completed. It is to be taken out of its group.
func (m *Machine) end(slot hosts.Slot, at float64) {
	v := m.virtual
	t := &v.tasks[slot]
	m.ended = append(m.ended, hosts.Report{Key: t.key, At: at, Done: t.work, Exit: hosts.Exit{Slot: slot}})
	m.place[slot] = over
	t.stamp++
	v.live--
	if m.holding {
		m.release(slot)
	}
}
