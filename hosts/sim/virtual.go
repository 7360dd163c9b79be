package sim

import (
	"cmp"
	"math"
	"slices"

	"bourse/hosts"
)

// A virtual is how a [Machine] keeps many tasks: an event touches the tasks that it
// is about and no others. What it gives is what the linear form gives, to rounding.
//
// # Design
//
// Virtual time. Tasks below their limit are free. They get weight times one factor,
// which changes with every event, and with it all instants at which they complete.
// What does not change is when they complete in virtual time V, the work done for each
// unit of weight:
//
//	dV/dt = room * speed / weight
//
// where room are the processors that the others leave, and weight is the sum of the
// weights of the free. A task that comes at V with so much left to do completes when V
// has grown by left/weight of its own, whatever else happens. That is its key; the
// heap due says who completes next, and from V at its start follows what it has done.
//
// Tasks at their limit are capped. They work at that limit in seconds, so their heap
// due is by instants. A task of weight 0 is paused, and in no heap.
//
// The border. A task is at its limit where weight*factor >= limit, with factor = room /
// weight of the free. So tasks reach their limits in the order of limit/weight, and the
// capped are the first in that order. Two more heaps, called edge, keep those next to
// the border: of the free the one that is to be capped first, of the capped the one
// that is to be freed first. Both moves make the factor larger, never less: who is freed
// brings more processors for a unit of weight than the others have, and who is capped
// takes less. So it is enough to free as long as somebody is due, and then to cap as
// long as somebody is ([Machine.border]); nobody goes to and fro. Each move costs a few
// steps in heaps. An event moves those that it brings across their limits, one or two as
// a rule; a task as heavy as all others together may move them all.
//
// Rounding. V, the clock, keys and sums of weights are two floats each. V would grow
// for ever on a host in overload. It begins anew when nobody is free, and is taken off
// all keys when it is so large against what a task has to do, or a processor-second of
// that, that two floats would lose of it ([Machine.rebase]). What is left of a sum when a large weight is taken off is
// rounding: it is added up afresh ([Machine.recalculate]). Both look at every task, and
// are rare: they take weights that differ more than a trillionfold.
//
// Tasks complete at instants that one float cannot show. The machine's clock has the
// float, as callers do; rest is what the true instant is after it.
//
// Heaps hold entries, not tasks. An entry is void once its task has another stamp; see
// [heap].
type virtual struct {
	// What every event touches comes first.
	v     twoFloat // virtual time: work per unit of weight
	rest  float64  // what the clock is after Machine.now, s
	pace  float64  // dV/dt
	perV  float64  // dt/dV
	after float64  // what the next completion is after Machine.next, s
	room  float64  // processors that the capped leave to the free
	speed float64  // of the host

	tasks   []hotTask // by slot
	due     heap      // of the free: by V
	live    int32     // tasks that run
	turn    uint32    // of the next to start
	free    int32     // tasks that are
	byV     bool      // the next completion is that of a free task
	bounded bool      // there is, or was lately, something in edge or in capped

	weight twoFloat   // sum of the weights of the free
	most   float64    // processors for any task: the host's cap, +Inf if it has none
	cold   []coldTask // by slot
	edge   heap       // of the free that have a limit: by limit/weight

	capped struct {
		n     int32
		limit twoFloat // sum of their limits
		due   heap     // by instant of completion
		edge  heap     // by -limit/weight
	}

	order []hosts.Slot // of the tasks that had started when it was last asked for; see Machine.inOrder
	until uint32       // the turn from which on tasks are not in order

	held [3]twoFloat // memory, disk and bandwidth that tasks hold
}

// A hotTask is what a completion reads of a task.
type hotTask struct {
	key    int64
	work   float64
	weight float64
	stamp  uint32 // of its entries in heaps
	turn   uint32 // how many had started before it
}

// A coldTask is the rest of a task.
type coldTask struct {
	limit float64  // its own, processors; 0 is none
	done  float64  // when it came where it is
	from  twoFloat // V or instant at which that was
}

// What Machine.place says of a task in virtual time.
const (
	paused = iota // it stands still, in no heap but for one that has nothing left
	free
	capped
)

// tooFar is the factor between two numbers beyond which they are not added: what is
// left of two floats then still shows the less of them as well as one float does.
const tooFar = 1 << 40

// Weights beyond these, but 0, are left to the linear form: V would be too large or
// too small for a float.
const (
	lightest = 1e-100
	heaviest = 1e100
)

// fits reports whether a task of that weight can be in virtual time.
func fits(weight float64) bool {
	return weight >= lightest && weight <= heaviest || weight == 0
}

// virtualize takes the tasks of m, which is linear, into virtual time, if their
// weights fit.
func (m *Machine) virtualize() {
	for i := range m.shares {
		if !fits(m.shares[i].Weight) {
			return
		}
	}
	if m.spare == nil {
		m.spare = new(virtual)
	}
	v := m.spare
	v.reset(&m.spec)
	m.virtual = v
	for i := range m.tasks {
		t := &m.tasks[i]
		m.begin(t.slot, t.key, t.work, t.done, m.shares[i])
		if int(t.slot) < len(m.holds) {
			v.hold(m.holds[t.slot], 1)
		}
	}
	m.resize(0)
	m.summed, m.stale = false, true
}

// reset empties v for a host of that spec. It keeps its memory.
func (v *virtual) reset(spec *hosts.Spec) {
	w := virtual{
		tasks: v.tasks, cold: v.cold, due: v.due, edge: v.edge, capped: v.capped, order: v.order[:0],
		room: spec.CPUs, speed: spec.Speed, most: math.Inf(1),
	}
	if spec.Cap > 0 {
		w.most = spec.Cap
	}
	w.due.reset()
	w.edge.reset()
	w.capped.due.reset()
	w.capped.edge.reset()
	w.capped.n, w.capped.limit = 0, twoFloat{}
	*v = w
}

// linearize takes the tasks of m back.
func (m *Machine) linearize() {
	v := m.virtual
	for _, slot := range m.inOrder() {
		t, r := &v.tasks[slot], &v.cold[slot]
		done := m.worked(slot)
		m.append(slot, t.key, t.work, done, hosts.Share{Weight: t.weight, Limit: r.limit})
	}
	m.virtual, m.stale = nil, true
}

// shrink makes m linear again if few tasks are left.
func (m *Machine) shrink() {
	if 2*int(m.virtual.live) < int(m.many) {
		m.linearize()
	}
}

// inOrder returns the slots of the tasks in order of start. It looks at all that there
// are and sorts those that have started since it was last asked.
func (m *Machine) inOrder() []hosts.Slot {
	v := m.virtual
	order := v.order[:0]
	for _, slot := range v.order {
		if m.place[slot] >= 0 && v.tasks[slot].turn < v.until {
			order = append(order, slot)
		}
	}
	if old := len(order); old < int(v.live) {
		for slot, place := range m.place {
			if place >= 0 && v.tasks[slot].turn >= v.until {
				order = append(order, hosts.Slot(slot))
			}
		}
		slices.SortFunc(order[old:], v.earlier)
	}
	v.order, v.until = order, v.turn
	return order
}

// renumber gives the tasks turns from 0.
func (m *Machine) renumber() {
	v := m.virtual
	order := m.inOrder()
	for i, slot := range order {
		v.tasks[slot].turn = uint32(i)
	}
	v.turn = uint32(len(order))
	v.until = v.turn
}

// earlier compares tasks by their starts.
func (v *virtual) earlier(a, b hosts.Slot) int { return cmp.Compare(v.tasks[a].turn, v.tasks[b].turn) }

// begin starts a task in slot, some of which may have been done.
func (m *Machine) begin(slot hosts.Slot, key int64, work, done float64, s hosts.Share) {
	v := m.virtual
	for int(slot) >= len(v.tasks) {
		v.tasks, v.cold = append(v.tasks, hotTask{}), append(v.cold, coldTask{})
	}
	if v.turn == math.MaxUint32 {
		m.renumber()
	}
	t, r := &v.tasks[slot], &v.cold[slot]
	t.key, t.work, t.weight, t.turn = key, work, s.Weight, v.turn
	r.limit, r.done = s.Limit, done
	v.turn++
	v.live++
	m.enter(slot, t, r, work-done)
}

// change gives the task in slot share s.
func (m *Machine) change(slot hosts.Slot, s hosts.Share) {
	t, r := &m.virtual.tasks[slot], &m.virtual.cold[slot]
	if t.weight == s.Weight && r.limit == s.Limit {
		return
	}
	m.pull(slot, t, r)
	t.weight, r.limit = s.Weight, s.Limit
	m.enter(slot, t, r, t.work-r.done)
	m.stale = true
}

// drop takes the task in slot, which is stopped, out.
func (m *Machine) drop(slot hosts.Slot) {
	v := m.virtual
	m.pull(slot, &v.tasks[slot], &v.cold[slot])
	m.place[slot] = over // it runs no more
	v.live--
	m.release(slot)
	m.stale = true
	m.shrink()
}

// worked returns the work that the task in slot has done.
func (m *Machine) worked(slot hosts.Slot) float64 {
	v, more := m.virtual, 0.0
	t, r := &v.tasks[slot], &v.cold[slot]
	switch m.place[slot] {
	case free:
		more = v.v.minus(r.from) * t.weight
	case capped:
		more = twoFloat{m.now, v.rest}.minus(r.from) * (v.bound(r) * v.speed)
	}
	return min(r.done+max(0, more), t.work)
}

// gets returns the processors that the task in slot gets.
func (m *Machine) gets(slot hosts.Slot) float64 {
	v := m.virtual
	switch m.place[slot] {
	case free:
		return v.tasks[slot].weight * (v.room / v.weight.hi)
	case capped:
		return v.bound(&v.cold[slot])
	}
	return 0
}

// allocate fills rates with what each task gets, in order of start.
func (m *Machine) allocate() {
	m.rates = m.rates[:0]
	for _, slot := range m.inOrder() {
		if m.lists != nil {
			m.rates = m.lists.rates.Grow(m.rates)
		}
		m.rates = append(m.rates, m.gets(slot))
	}
}

// hold adds what a task holds, times sign, to what is held.
func (v *virtual) hold(r hosts.Resources, sign float64) {
	for i, x := range [...]float64{r.Memory, r.Disk, r.Bandwidth} {
		v.held[i] = v.held[i].add(sign * x)
	}
}

// remaining returns what is not held of room.
func (v *virtual) remaining(room hosts.Resources) hosts.Resources {
	left := func(x float64, held twoFloat) float64 { return (x - held.hi) - held.lo }
	return hosts.Resources{
		Memory:    left(room.Memory, v.held[0]),
		Disk:      left(room.Disk, v.held[1]),
		Bandwidth: left(room.Bandwidth, v.held[2]),
	}
}
