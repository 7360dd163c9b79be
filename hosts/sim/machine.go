// Package sim is the machine whose progress is computed, not measured: exact
// between events, never stepped through time.
//
// A [Machine] shares one host among its tasks, few or many, for a market or a
// cluster. An [Engine] runs whole workloads on very many of them, without admission.
// Neither knows prices, contracts, or who asked.
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
// While few tasks run, a call costs time linear in their number: a pass over them is
// faster than keeping any order. Once they are many the machine keeps them in virtual
// time, and a call costs time logarithmic in their number, but for Processors, which is
// linear. It returns when fewer than half as many are left, so that it does not go to
// and fro. Both forms give the same to 1e-9; an instant beyond 1e300 s may be never.
type Machine struct {
	now     float64
	next    float64  // earliest completion, if not stale
	virtual *virtual // the tasks that run, while they are many; else nil
	many    int32    // tasks from which on they are many
	unused  int32    // the first slot that is vacant, none if there is none
	stale   bool     // rates are not those of shares
	holding bool     // some slot is in holds

	// The tasks that run, in order of start, while they are few.
	finite  bool // some task since Reset has had an end of its work
	limited bool // somebody was at a limit at the last division
	summed  bool // weight is the sum of the weights, added up in that order
	weight  float64
	tasks   []task
	shares  []hosts.Share
	rates   []float64 // processors

	place []int32 // by slot: its index in tasks, or what virtual makes of it, or a mark below
	spec  hosts.Spec
	ended []hosts.Report // completed, in that order, and not yet reported
	spare *virtual       // memory for when tasks are many
	lists *Lists         // where the memory of few tasks comes from, nil if it is the machine's own

	holds []hosts.Resources // by slot: what its task holds; as long as need be
	room  hosts.Resources
	_     [24]byte // machines in a row begin with a cache line
}

// manyTasks is from how many tasks on a market's machine keeps them in virtual time.
// A market reads what every task gets after each event on a host, so that an event costs
// time linear in its tasks whatever the form. The number is above what any scenario
// comes to whose results are held to the last bit: 3,005, with volunteers-models-pps; an
// [Engine] has its own.
const manyTasks = 4096

// Borrow makes m, which is idle, take the memory of its tasks from l from now on. What
// it needs for many is its own all the same.
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
	if m.many == 0 {
		m.many = manyTasks
	}
	*m = Machine{
		lists: m.lists, many: m.many, spare: m.spare, unused: none,
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
func (m *Machine) Len() int {
	if m.virtual != nil {
		return int(m.virtual.live)
	}
	return len(m.tasks)
}

// Start begins a task with share s. It returns an error, and nothing has
// changed but the instant, if what the task holds does not fit in Room.
func (m *Machine) Start(now float64, t hosts.Task, s hosts.Share) (hosts.Slot, error) {
	check(s)
	if !(t.Work >= 0) {
		panic("hosts/sim: work is negative or not a number")
	}
	m.bring(now)
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
	if m.virtual != nil || len(m.tasks) >= int(m.many) {
		m.suit(s, true)
	}
	slot := hosts.Slot(m.unused)
	if slot != none {
		m.unused = vacant - m.place[slot]
	} else {
		slot = hosts.Slot(len(m.place))
		m.place = append(m.place, 0)
	}
	m.stale = true
	if m.virtual != nil {
		m.begin(slot, key, work, 0, s)
	} else {
		m.append(slot, key, work, 0, s)
	}
	return slot
}

// suit puts m in the form for a task more, or changed, of share s.
func (m *Machine) suit(s hosts.Share, more bool) {
	switch {
	case !fits(s.Weight):
		if m.virtual != nil {
			m.linearize()
		}
	case m.virtual == nil && more:
		m.virtualize()
	}
}

// SetShare changes the task's share from now on. A task that has completed and
// awaits its report is past changing.
func (m *Machine) SetShare(now float64, slot hosts.Slot, s hosts.Share) {
	check(s)
	m.bring(now)
	i := m.find(slot)
	if i < 0 {
		return
	}
	if m.virtual != nil {
		m.suit(s, false)
		i = m.place[slot]
	}
	if m.virtual != nil {
		m.change(slot, s)
	} else if m.shares[i] != s {
		m.shares[i] = s
		m.summed, m.stale = false, true
	}
}

// Stop removes the task and reports what it had done. If it has completed and
// awaits its report, that is the report.
func (m *Machine) Stop(now float64, slot hosts.Slot) (r hosts.Report) {
	m.bring(now)
	i := m.find(slot)
	if i == over {
		e := m.reported(slot)
		r = m.ended[e]
		m.ended = append(m.ended[:e], m.ended[e+1:]...)
		m.vacate(slot)
		return r
	}
	r.Slot, r.At = slot, m.now
	if v := m.virtual; v != nil {
		r.Key, r.Done = v.tasks[slot].key, m.worked(slot)
		m.drop(slot)
	} else {
		t := &m.tasks[i]
		r.Key, r.Done = t.key, t.done
		m.remove(int(i))
	}
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
	switch {
	case i == over:
		return 0
	case m.virtual != nil:
		return m.gets(slot) * m.spec.Speed
	}
	return m.rates[i] * m.spec.Speed
}

// Processors returns what each task that runs gets, in order of start.
func (m *Machine) Processors() []float64 {
	if m.stale {
		m.divide()
	}
	if m.virtual != nil {
		m.allocate()
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
	if m.virtual != nil {
		return m.worked(slot)
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
	if m.Len() == 0 {
		m.now = now
		return
	}
	if m.stale || m.next <= now {
		m.completeUntil(now)
	}
	switch {
	case m.now == now: // brought there by a completion
	case m.virtual != nil:
		m.flow(now)
	default:
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
		if m.virtual != nil {
			m.finish()
		} else {
			m.complete()
		}
	}
}

// hold takes what the task in slot holds out of the room.
func (m *Machine) hold(slot hosts.Slot, r hosts.Resources) {
	for int(slot) >= len(m.holds) {
		m.holds = append(m.holds, hosts.Resources{})
	}
	m.holds[slot], m.holding = r, true
	if v := m.virtual; v != nil {
		v.hold(r, 1)
		m.room = v.remaining(m.spec.Room)
	} else {
		m.room = m.room.Sub(r)
	}
}

// release gives back what the task in slot held, which is out already.
func (m *Machine) release(slot hosts.Slot) {
	if int(slot) >= len(m.holds) || m.holds[slot].Zero() {
		return
	}
	r := m.holds[slot]
	m.holds[slot] = hosts.Resources{}
	if v := m.virtual; v != nil {
		v.hold(r, -1)
		m.room = v.remaining(m.spec.Room)
	} else {
		m.recount()
	}
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
