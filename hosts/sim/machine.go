// Package sim is the machine whose progress is computed, not measured: exact
// between events, never stepped through time.
//
// A [Machine] runs the few tasks of one host for a market or a cluster. An
// [Engine] runs whole workloads on very many hosts, without admission. Neither
// knows prices, contracts, or who asked.
package sim

import (
	"fmt"
	"math"

	"bourse/hosts"
	"bourse/hosts/slab"
)

// A Machine shares a simulated host among its tasks. Between two changes every
// task works at a constant rate, which [hosts.Divide] gives.
//
// The host is divided when a rate or an instant is next asked for, so several
// changes at one instant cost one division. A call costs time linear in the
// number of tasks.
type Machine struct {
	spec hosts.Spec
	room hosts.Resources
	now  float64

	// The tasks that run, in order of start.
	tasks  []task
	shares []hosts.Share
	rates  []float64 // processors
	stale  bool      // rates are not those of shares
	next   float64   // earliest completion, if not stale
	finite int       // tasks that complete: those of endless work do not

	ended []hosts.Report // completed, in that order, and not yet reported
	place []int32        // by slot: its index in tasks, or one of the marks below
	free  []hosts.Slot

	lists *Lists // where the memory of tasks comes from
}

// Lists are the memory that machines take for their tasks. Machines that share it
// hold together what runs, not the most that ever ran on each; they are then of one
// goroutine. The zero value is empty.
type Lists struct {
	tasks  slab.Slab[task]
	shares slab.Slab[hosts.Share]
	rates  slab.Slab[float64]
}

// Borrow makes m, which is idle, take the memory of its tasks from l from now on.
func (m *Machine) Borrow(l *Lists) { m.lists, m.tasks, m.shares, m.rates = l, nil, nil, nil }

// Marks in place for a slot whose task does not run.
const (
	vacant = -1
	over   = -2 // completed, not yet reported
)

type task struct {
	hosts.Task
	done   float64
	finish float64 // when it completes at its present rate, as of the last division
	slot   hosts.Slot
}

var _ hosts.Machine = (*Machine)(nil)

// New returns an idle machine at instant 0.
func New(spec hosts.Spec) *Machine {
	m := new(Machine)
	m.Reset(spec)
	return m
}

// Reset makes m an idle machine at instant 0 that offers spec, and keeps what
// it has allocated.
func (m *Machine) Reset(spec hosts.Spec) {
	if m.lists == nil {
		m.lists = new(Lists)
	}
	*m = Machine{
		lists: m.lists,
		spec:  spec, room: spec.Room, next: math.Inf(1),
		tasks: m.tasks[:0], shares: m.shares[:0], rates: m.rates[:0],
		ended: m.ended[:0], place: m.place[:0], free: m.free[:0],
	}
}

// Spec returns what the host offers.
func (m *Machine) Spec() *hosts.Spec { return &m.spec }

// Room returns the resources not held by any task.
func (m *Machine) Room() hosts.Resources { return m.room }

// Len returns the number of tasks that run.
func (m *Machine) Len() int { return len(m.tasks) }

// Start begins a task with share s. It returns an error, and nothing has
// changed but the instant, if what the task holds does not fit in Room.
func (m *Machine) Start(now float64, t hosts.Task, s hosts.Share) (hosts.Slot, error) {
	check(s)
	if !(t.Work >= 0) {
		panic("hosts/sim: work is negative or not a number")
	}
	m.bring(now)
	if !t.Holds.Zero() {
		if !t.Holds.Fit(m.room) {
			return 0, fmt.Errorf("host %s: task %d holds %+v: only %+v is left", m.spec.Name, t.Key, t.Holds, m.room)
		}
		m.room = m.room.Sub(t.Holds)
	}
	slot := hosts.Slot(len(m.place))
	if n := len(m.free); n > 0 {
		slot = m.free[n-1]
		m.free = m.free[:n-1]
	} else {
		m.place = append(m.place, vacant)
	}
	n := len(m.tasks)
	if n == cap(m.tasks) {
		m.grow()
	}
	m.resize(n + 1)
	if t.Work <= math.MaxFloat64 {
		m.finite++
	}
	k := &m.tasks[n]
	k.Task, k.done, k.finish, k.slot = t, 0, 0, slot
	m.shares[n], m.rates[n] = s, 0
	m.place[slot] = int32(n)
	m.stale = true
	return slot, nil
}

// grow makes room for one task more.
func (m *Machine) grow() {
	l := m.lists
	m.tasks, m.shares, m.rates = l.tasks.Grow(m.tasks), l.shares.Grow(m.shares), l.rates.Grow(m.rates)
}

// resize makes the lists of tasks n long; there is room.
func (m *Machine) resize(n int) {
	m.tasks = m.tasks[:n] // one by one: only the lengths are written
	m.shares = m.shares[:n]
	m.rates = m.rates[:n]
}

// trim gives memory back that is not needed.
func (m *Machine) trim() {
	l := m.lists
	m.tasks, m.shares, m.rates = l.tasks.Trim(m.tasks), l.shares.Trim(m.shares), l.rates.Trim(m.rates)
}

// SetShare changes the task's share from now on. A task that has completed and
// awaits its report is past changing.
func (m *Machine) SetShare(now float64, slot hosts.Slot, s hosts.Share) {
	check(s)
	m.bring(now)
	if i := m.find(slot); i >= 0 && m.shares[i] != s {
		m.shares[i] = s
		m.stale = true
	}
}

// Stop removes the task and reports what it had done. If it has completed and
// awaits its report, that is the report.
func (m *Machine) Stop(now float64, slot hosts.Slot) hosts.Report {
	m.bring(now)
	i := m.find(slot)
	if i == over {
		e := m.reported(slot)
		r := m.ended[e]
		m.ended = append(m.ended[:e], m.ended[e+1:]...)
		m.vacate(slot)
		return r
	}
	t := &m.tasks[i]
	r := hosts.Report{Key: t.Key, Slot: slot, At: m.now, Done: t.done}
	m.remove(int(i))
	m.vacate(slot)
	return r
}

// Rate returns the work per second that the task gets at present, 0 once it
// has completed.
func (m *Machine) Rate(slot hosts.Slot) float64 {
	if m.stale {
		m.divide()
	}
	if i := m.at(slot); i >= 0 {
		return m.rates[i] * m.spec.Speed
	}
	m.find(slot) // completed, or none of its own
	return 0
}

// Processors returns what each task that runs gets, in order of start.
func (m *Machine) Processors() []float64 {
	if m.stale {
		m.divide()
	}
	return m.rates
}

// Done returns the work that the task had done when the machine was last
// brought to an instant.
func (m *Machine) Done(slot hosts.Slot) float64 {
	i := m.find(slot)
	if i == over {
		return m.ended[m.reported(slot)].Done
	}
	return m.tasks[i].done
}

// Next returns the earliest instant at which a task completes if nothing
// changes, +Inf if none will. It is in the past if a task has completed and
// awaits its report.
func (m *Machine) Next() float64 {
	if len(m.ended) > 0 {
		return m.ended[0].At
	}
	if m.stale {
		m.divide()
	}
	return m.next
}

// Advance brings the machine to now, ends the tasks that have completed, and
// appends their reports to out in order of completion, ties in order of start.
func (m *Machine) Advance(now float64, out []hosts.Report) []hosts.Report {
	m.bring(now)
	m.completeUntil(now)
	for i := range m.ended {
		m.vacate(m.ended[i].Slot)
	}
	out = append(out, m.ended...)
	m.ended = m.ended[:0]
	return out
}

// bring lets time pass until now, through every completion on the way.
func (m *Machine) bring(now float64) {
	if now != m.now {
		m.pass(now)
	}
}

func (m *Machine) pass(now float64) {
	if !(now > m.now) {
		panic(fmt.Sprintf("hosts/sim: host %s is told %v after %v", m.spec.Name, now, m.now))
	}
	if len(m.tasks) == 0 {
		m.now = now
		return
	}
	m.completeUntil(now)
	m.accrue(now)
}

// completeUntil ends the tasks that complete by now, each at its own instant:
// the others have more of the host from there on.
func (m *Machine) completeUntil(now float64) {
	for {
		if m.stale {
			m.divide()
		}
		if m.next > now {
			return
		}
		m.complete()
	}
}

// divide allocates the host among its tasks, and finds the next completion.
func (m *Machine) divide() {
	m.stale = false
	hosts.Divide(m.spec.CPUs, m.spec.Cap, m.shares, m.rates)
	if m.finite == 0 {
		m.next = math.Inf(1)
		return
	}
	next, rates := math.Inf(1), m.rates[:len(m.tasks)]
	for i := range m.tasks {
		t := &m.tasks[i]
		finish := m.now
		if left := t.Work - t.done; left > math.MaxFloat64 {
			finish = left
		} else if left > 0 {
			finish += left / (rates[i] * m.spec.Speed)
		}
		t.finish = finish
		if finish < next {
			next = finish
		}
	}
	m.next = next
}

// complete ends the tasks that complete at the next completion.
func (m *Machine) complete() {
	at := m.next
	first := len(m.ended)
	for i := range m.tasks {
		if t := &m.tasks[i]; t.finish <= at {
			m.ended = append(m.ended, hosts.Report{Key: t.Key, Slot: t.slot, At: at, Done: t.Work})
		}
	}
	m.accrue(at)
	for i := first; i < len(m.ended); i++ {
		slot := m.ended[i].Slot
		m.remove(int(m.place[slot]))
		m.place[slot] = over
	}
}

// accrue credits the tasks with the work done until at.
func (m *Machine) accrue(at float64) {
	span, rates := (at-m.now)*m.spec.Speed, m.rates[:len(m.tasks)]
	for i := range m.tasks {
		t := &m.tasks[i]
		if t.done += rates[i] * span; t.done > t.Work {
			t.done = t.Work
		}
	}
	m.now = at
}

// remove takes task i off the host and keeps the order of the others.
func (m *Machine) remove(i int) {
	held := m.tasks[i].Holds
	if m.tasks[i].Work <= math.MaxFloat64 {
		m.finite--
	}
	n := len(m.tasks) - 1
	for ; i < n; i++ {
		m.tasks[i], m.shares[i] = m.tasks[i+1], m.shares[i+1]
		m.place[m.tasks[i].slot] = int32(i)
	}
	m.resize(n)
	if slab.Loose(n, cap(m.tasks)) {
		m.trim()
	}
	m.stale = true
	if held.Zero() {
		return
	}
	// Counted afresh, so that what was added and taken away leaves no residue.
	m.room = m.spec.Room
	for i := range m.tasks {
		m.room = m.room.Sub(m.tasks[i].Holds)
	}
}

// find returns where the slot's task is in tasks, or over.
func (m *Machine) find(slot hosts.Slot) int32 {
	i := m.at(slot)
	if i == vacant {
		panic(fmt.Sprintf("hosts/sim: host %s has no task in slot %d", m.spec.Name, slot))
	}
	return i
}

// at returns where the slot's task is in tasks, or how it is marked.
func (m *Machine) at(slot hosts.Slot) int32 {
	if int(slot) < len(m.place) {
		return m.place[slot]
	}
	return vacant
}

// reported returns where the slot's report is in ended.
func (m *Machine) reported(slot hosts.Slot) int {
	i := 0
	for m.ended[i].Slot != slot {
		i++
	}
	return i
}

// vacate lets the slot be used again.
func (m *Machine) vacate(slot hosts.Slot) {
	m.place[slot] = vacant
	m.free = append(m.free, slot)
}

func check(s hosts.Share) {
	if !(s.Weight >= 0 && s.Weight <= math.MaxFloat64 && s.Limit >= 0) {
		panic(refused(s))
	}
}

func refused(s hosts.Share) string { return fmt.Sprintf("hosts/sim: share %+v", s) }
