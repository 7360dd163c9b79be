package sim

import (
	"math"

	"bourse/hosts"
)

// enter puts a task that has so much left to do where its share belongs.
func (m *Machine) enter(slot hosts.Slot, t *hotTask, r *coldTask, left float64) {
	v := m.virtual
	limit := v.bound(r)
	switch {
	case t.weight == 0:
		m.place[slot] = paused
		if left <= 0 { // it completes all the same
			v.bounded = true
			v.capped.due.push(entry{twoFloat{m.now, v.rest}, slot, t.stamp})
		}
	case t.weight*v.room >= limit*(v.weight.hi+t.weight):
		m.makeCapped(slot, t, r, left, limit)
	default:
		m.makeFree(slot, t, r, left, limit)
	}
}

// bound returns the most processors that a task gets, +Inf if that is not bounded.
func (v *virtual) bound(r *coldTask) float64 {
	if r.limit > 0 && r.limit < v.most {
		return r.limit
	}
	return v.most
}

// makeFree makes a task that has so much left to do one of the free.
func (m *Machine) makeFree(slot hosts.Slot, t *hotTask, r *coldTask, left, limit float64) {
	v := m.virtual
	m.place[slot] = free
	if v.v.hi > min(left, 1)/t.weight*tooFar && left > 0 {
		m.rebase()
	}
	key := v.v.after(left, t.weight)
	r.from = v.v
	v.free++
	v.weight = v.weight.add(t.weight)
	v.due.push(entry{key, slot, t.stamp})
	if !math.IsInf(limit, 1) {
		v.bounded = true
		v.edge.push(entry{twoFloat{limit / t.weight, 0}, slot, t.stamp})
	}
}

// makeCapped makes a task that has so much left to do one of the capped.
func (m *Machine) makeCapped(slot hosts.Slot, t *hotTask, r *coldTask, left, limit float64) {
	v := m.virtual
	m.place[slot] = capped
	r.from = twoFloat{m.now, v.rest}
	key := r.from.after(left, limit*v.speed)
	v.bounded = true
	v.capped.n++
	m.reserve(v.capped.limit.add(limit))
	v.capped.due.push(entry{key, slot, t.stamp})
	v.capped.edge.push(entry{twoFloat{-limit / t.weight, 0}, slot, t.stamp})
}

// reserve makes limit the sum of the limits of the capped.
func (m *Machine) reserve(limit twoFloat) {
	v := m.virtual
	v.capped.limit = limit
	v.room = max(0, (m.spec.CPUs-limit.hi)-limit.lo)
}

// pull takes a task out of its group, to be put into one again, and counts what it has
// done. Its entries are void from now on.
func (m *Machine) pull(slot hosts.Slot, t *hotTask, r *coldTask) {
	v := m.virtual
	done, place := m.worked(slot), m.place[slot]
	t.stamp++
	m.place[slot] = paused // it counts in no sum
	switch {
	case place == free:
		v.due.lose(v.tasks)
		m.unfree(t, r)
	case place == capped:
		v.capped.due.lose(v.tasks)
		m.uncap(r)
	case t.work <= r.done:
		v.capped.due.lose(v.tasks)
	}
	r.done = done
}

// unfree takes a task, which has another stamp already, from the free but for their
// heap due.
func (m *Machine) unfree(t *hotTask, r *coldTask) {
	v := m.virtual
	if v.bounded && !math.IsInf(v.bound(r), 1) {
		v.edge.lose(v.tasks)
	}
	if v.free--; v.free == 0 {
		v.weight, v.v = twoFloat{}, twoFloat{}
		return
	}
	if v.weight = v.weight.add(-t.weight); t.weight > v.weight.hi*tooFar {
		m.recalculate()
	}
}

// uncap takes a task, which has another stamp already, from the capped but for their
// heap due.
func (m *Machine) uncap(r *coldTask) {
	v := m.virtual
	v.capped.edge.lose(v.tasks)
	if v.capped.n--; v.capped.n == 0 {
		m.reserve(twoFloat{})
		return
	}
	m.reserve(v.capped.limit.add(-v.bound(r)))
}

// recalculate adds up the weights of the free afresh.
func (m *Machine) recalculate() {
	v := m.virtual
	v.weight = twoFloat{}
	for slot, place := range m.place {
		if place == free {
			v.weight = v.weight.add(v.tasks[slot].weight)
		}
	}
}

// rebase takes V off whatever is told in it.
func (m *Machine) rebase() {
	v := m.virtual
	by := twoFloat{-v.v.hi, -v.v.lo}
	for i := range v.due.entries {
		if e := &v.due.entries[i]; e.key.hi <= math.MaxFloat64 {
			e.key = e.key.plus(by)
		}
	}
	for slot, place := range m.place {
		if place == free {
			v.cold[slot].from = v.cold[slot].from.plus(by)
		}
	}
	v.v = twoFloat{}
}

// border frees the capped tasks that the factor no longer brings to their limit, and
// then caps the free that it does.
func (m *Machine) border() {
	v := m.virtual
	for e := v.capped.edge.first(v.tasks); e != nil; e = v.capped.edge.first(v.tasks) {
		slot := e.slot
		t, r := &v.tasks[slot], &v.cold[slot]
		limit := v.bound(r)
		if t.weight*v.room >= limit*v.weight.hi {
			break
		}
		m.pull(slot, t, r)
		m.makeFree(slot, t, r, t.work-r.done, limit)
	}
	for e := v.edge.first(v.tasks); e != nil; e = v.edge.first(v.tasks) {
		slot := e.slot
		t, r := &v.tasks[slot], &v.cold[slot]
		limit := v.bound(r)
		if t.weight*v.room < limit*v.weight.hi {
			break
		}
		m.pull(slot, t, r)
		m.makeCapped(slot, t, r, t.work-r.done, limit)
	}
}
