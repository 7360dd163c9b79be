// Package sim is the machine whose progress is computed, not measured: exact
// between events, never stepped through time.
//
// A [Machine] shares one host among its tasks, for a market or a cluster. An [Engine]
// runs whole workloads on very many of them, without admission. Both are independent of
// prices, contracts and users.
//
// # Design
//
// Each event on a host costs one pass over the host's tasks. Virtual time with heaps
// would cost time logarithmic in their number. It is faster from about 16 tasks on a
// host, but a market reads the share of every task after each event anyway, and no
// result depends on the difference: [Engine] alone is slower in long overload.
package sim

import (
	"fmt"
	"math"

	"bourse/hosts"
)

// A Machine shares a simulated host among its tasks. Between two changes every
// task works at a constant rate, which [hosts.Divide] gives.
//
// The host is divided when a rate or an instant is next asked for, so several
// changes at one instant cost one division.
//
// A call costs time linear in the number of tasks that run.
type Machine struct {
	now     float64
	next    float64 // earliest completion, if not stale
	unused  int32   // the first slot that is vacant, none if there is none
	stale   bool    // rates are not those of shares
	holding bool    // some slot is in holds

	// The tasks that run, in order of start.
	finite  bool // some task since Reset has had an end of its work
	limited bool // somebody was at a limit at the last division
	summed  bool // weight is the sum of the weights, added up in that order
	weight  float64
	tasks   []task
	shares  []hosts.Share
	rates   []float64 // processors

	place []int32 // by slot: its index in tasks, or a mark below
	spec  hosts.Spec
	ended []hosts.Report // completed, in that order, and not yet reported
	lists *Lists         // where the memory of tasks comes from, nil if it is the machine's own

	holds []hosts.Resources // by slot: what its task holds; as long as need be
	room  hosts.Resources
	_     [40]byte // machines in a row begin with a cache line
}

// Borrow makes m, which is idle, take the memory of its tasks from l from now on.
func (m *Machine) Borrow(l *Lists) { m.lists, m.tasks, m.shares, m.rates = l, nil, nil, nil }

// Marks in place for a slot whose task does not run. A slot that is vacant has vacant
// less the next vacant one.
const (
	over   = -1 // completed, not yet reported
	vacant = -3
	none   = -1 // no slot
)

type task struct {
	key    int64
	work   float64
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
	*m = Machine{
		lists: m.lists, unused: none,
		spec: spec, room: spec.Room, next: math.Inf(1),
		tasks: m.tasks[:0], shares: m.shares[:0], rates: m.rates[:0],
		ended: m.ended[:0], place: m.place[:0], holds: m.holds[:0],
	}
}

// Prefetch implements [hosts.Prefetcher].
func (m *Machine) Prefetch() float64 {
	x := m.now + m.room.Memory
	if len(m.tasks) > 0 {
		x += m.tasks[0].done + m.shares[0].Weight + m.rates[0] + float64(m.place[0])
	}
	return x
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
	m.advance(now)
	holds := !t.Holds.Zero()
	if holds && !t.Holds.Fit(m.room) {
		return 0, fmt.Errorf("host %s: task %d holds %+v: only %+v is left", m.spec.Name, t.Key, t.Holds, m.room)
	}
	slot := m.add(t.Key, t.Work, s)
	if holds {
		m.hold(slot, t.Holds)
	}
	return slot, nil
}

// add begins a task of which nothing is to be checked, now.
func (m *Machine) add(key int64, work float64, s hosts.Share) hosts.Slot {
	slot := hosts.Slot(m.unused)
	if slot != none {
		m.unused = vacant - m.place[slot]
	} else {
		slot = hosts.Slot(len(m.place))
		m.place = append(m.place, 0)
	}
	m.append(slot, key, work, s)
	return slot
}

// SetShare changes the task's share from now on. A task that has completed and
// awaits its report is past changing.
func (m *Machine) SetShare(now float64, slot hosts.Slot, s hosts.Share) {
	check(s)
	m.advance(now)
	i := m.find(slot)
	if i >= 0 && m.shares[i] != s {
		m.shares[i] = s
		m.summed, m.stale = false, true
	}
}

// Stop removes the task and reports what it had done. If it has completed and
// awaits its report, that is the report.
func (m *Machine) Stop(now float64, slot hosts.Slot) (r hosts.Report) {
	m.advance(now)
	i := m.find(slot)
	if i == over {
		e := m.reported(slot)
		r = m.ended[e]
		m.ended = append(m.ended[:e], m.ended[e+1:]...)
		m.vacate(slot)
		return r
	}
	t := &m.tasks[i]
	r.Slot, r.At, r.Key, r.Done = slot, m.now, t.key, t.done
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
	i := m.find(slot)
	if i == over {
		return 0
	}
	return m.rates[i] * m.spec.Speed
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
	if now == m.now && !m.stale && now < m.next && len(m.ended) == 0 {
		return out
	}
	from := len(out)
	own := m.ended // what completes goes straight to out
	m.ended = append(out, own...)
	if now != m.now {
		m.pass(now)
	} else {
		m.completeUntil(now)
	}
	out, m.ended = m.ended, own[:0]
	for i := from; i < len(out); i++ {
		m.vacate(out[i].Slot)
	}
	return out
}

// advance lets time pass until now, through every completion on the way.
func (m *Machine) advance(now float64) {
	if now != m.now {
		m.pass(now)
	}
}

func (m *Machine) pass(now float64) {
	if !(now > m.now) {
		panic(fmt.Sprintf("hosts/sim: host %s is told %v after %v", m.spec.Name, now, m.now))
	}
	if m.Len() == 0 {
		m.now = now
		return
	}
	if m.stale || m.next <= now {
		m.completeUntil(now)
	}
	if m.now != now { // else a completion was just then
		m.accrue(now)
	}
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

// hold takes what the task in slot holds out of the room.
func (m *Machine) hold(slot hosts.Slot, r hosts.Resources) {
	for int(slot) >= len(m.holds) {
		m.holds = append(m.holds, hosts.Resources{})
	}
	m.holds[slot], m.holding = r, true
	m.room = m.room.Sub(r)
}

// release gives back what the task in slot held, which is out already.
func (m *Machine) release(slot hosts.Slot) {
	if int(slot) >= len(m.holds) || m.holds[slot].Zero() {
		return
	}
	m.holds[slot] = hosts.Resources{}
	m.recount()
}

// find returns where the slot's task is in tasks, or over.
func (m *Machine) find(slot hosts.Slot) int32 {
	if int(slot) < len(m.place) && m.place[slot] >= over {
		return m.place[slot]
	}
	panic(fmt.Sprintf("hosts/sim: host %s has no task in slot %d", m.spec.Name, slot))
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
	m.place[slot] = vacant - m.unused
	m.unused = int32(slot)
}

func check(s hosts.Share) {
	if !(s.Weight >= 0 && s.Limit >= 0) || math.IsInf(s.Weight, 1) {
		panic(refused(s))
	}
}

func refused(s hosts.Share) string { return fmt.Sprintf("hosts/sim: share %+v", s) }
