// Package sim simulates hosts. The progress of tasks is computed rather than measured. It is
// exact between events, because time is not divided into steps.
//
// A [Machine] divides one host among its tasks, for a market or a cluster. It is independent
// of prices, contracts and users.
//
// # Design
//
// Between two events every task works at a constant rate. Its completion time is therefore
// known: now plus the remaining work divided by the rate. For example, two equal tasks on one
// processor each work at rate 0.5. When one of them ends, the other continues at rate 1.
//
// Each event on a host costs one pass over the host's tasks. With virtual time and heaps, an
// event would take time logarithmic in the number of tasks. That is faster from about 16 tasks
// per host, but a market reads the share of every task after each event anyway. Both methods
// give the same results.
package sim

import (
	"fmt"
	"math"

	"bourse/hosts"
)

// A Machine divides a simulated host among its tasks. Between two changes every task works at
// a constant rate, which [hosts.Divide] computes.
//
// The host is divided again only when a rate or a time after the change is needed. Several
// changes at the same time therefore require only one division.
//
// A task that completes stays in the machine until Advance or Stop has reported it. Its slot
// remains valid until then. A caller can therefore still query the work done before it has
// received the report.
//
// Each call takes time linear in the number of running tasks. A machine is not safe for
// concurrent use.
type Machine struct {
	now     float64
	next    float64 // earliest completion; valid only if stale is false
	unused  int32   // first vacant slot, or none
	stale   bool    // whether the rates are out of date
	holding bool    // whether at least one slot has an entry in holds

	// The following slices describe the running tasks, in order of start.
	finite  bool // whether at least one task started since Reset has a finite amount of work
	limited bool // whether at least one task was at a limit in the last division
	summed  bool // whether weight is the sum of the weights, added in order of start
	weight  float64
	tasks   []task
	shares  []hosts.Share
	rates   []float64 // processors of each task

	place []int32 // index in tasks, by slot, or a mark as defined below
	spec  hosts.Spec
	ended []hosts.Report // completed tasks not yet reported, in order of completion

	holds []hosts.Resources // resources reserved by the task of each slot; shorter than place if later slots reserve nothing
	room  hosts.Resources
	used  *[hosts.Kinds]float64 // for each kind: amounts that ended tasks held times their durations in seconds, minus amounts that running tasks hold times their start times; nil until a task holds any
	_     [40]byte              // padding, so that consecutive machines start at a cache line
}

// These marks in place describe a slot whose task does not run. The entry of a vacant slot is
// vacant minus the number of the next vacant slot, so the vacant slots form a linked list.
const (
	over   = -1 // completed, not yet reported
	vacant = -3
	none   = -1 // no slot
)

// A task is the state of a running task. The field done is valid for the machine's current
// time; work and done are in processor-seconds at speed 1.
type task struct {
	key    int64
	work   float64
	done   float64
	finish float64 // time of completion at the current rate, as of the last division
	slot   hosts.Slot
}

var _ hosts.Machine = (*Machine)(nil)

// New returns an idle machine at time 0.
func New(spec hosts.Spec) *Machine {
	m := new(Machine)
	m.Reset(spec)
	return m
}

// Reset makes m an idle machine at time 0 with the specification spec. It reuses the allocated
// memory.
func (m *Machine) Reset(spec hosts.Spec) {
	*m = Machine{
		unused: none,
		spec:   spec, room: spec.Offers(), next: math.Inf(1),
		tasks: m.tasks[:0], shares: m.shares[:0], rates: m.rates[:0],
		ended: m.ended[:0], place: m.place[:0], holds: m.holds[:0], used: m.used,
	}
	if m.used != nil {
		*m.used = [hosts.Kinds]float64{}
	}
}

// Spec returns the offer of the host.
func (m *Machine) Spec() *hosts.Spec { return &m.spec }

// Room returns the resources that no task has reserved.
func (m *Machine) Room() hosts.Resources { return m.room }

// Used returns the use of kind k up to now: the sum over all tasks of the amount held times
// the seconds for which it was held. The time now must not be before the last event.
func (m *Machine) Used(now float64, k hosts.Kind) float64 {
	if m.used == nil {
		return 0
	}
	held := m.spec.Room.Sub(m.room)
	return m.used[k] + held.Of(k)*now
}

// use adds the amounts in r times seconds to the sums that Used returns.
func (m *Machine) use(r *hosts.Resources, seconds float64) {
	if m.used == nil {
		m.used = new([hosts.Kinds]float64)
	}
	for k := hosts.Memory; k < hosts.Kinds; k++ {
		m.used[k] += r.Of(k) * seconds
	}
}

// Len returns the number of running tasks.
func (m *Machine) Len() int { return len(m.tasks) }

// Start starts a task with share s. If the resources that the task reserves do not fit in Room,
// Start returns an error and only advances the machine to now.
func (m *Machine) Start(now float64, t hosts.Task, s hosts.Share) (hosts.Slot, error) {
	check(s)
	if !(t.Work >= 0) {
		panic("hosts/sim: work is negative or not a number")
	}
	m.advance(now)
	holds := !t.Holds.Zero()
	if holds && !t.Holds.Fit(m.room) {
		return 0, fmt.Errorf("host %s: task %d reserves %+v, but only %+v is free", m.spec.Name, t.Key, t.Holds, m.room)
	}
	slot := m.add(t.Key, t.Work, s)
	if holds {
		m.hold(slot, t.Holds)
	}
	return slot, nil
}

// add starts a task at the machine's current time without any checks.
func (m *Machine) add(key int64, work float64, s hosts.Share) hosts.Slot {
	// Reuse the most recently vacated slot. The slots vacated before it are linked through
	// place.
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

// SetShare changes the task's share from now on. It has no effect on a task that has completed
// but is not yet reported.
func (m *Machine) SetShare(now float64, slot hosts.Slot, s hosts.Share) {
	check(s)
	m.advance(now)
	i := m.find(slot)
	// The division is postponed until a caller reads a rate or time advances.
	if i >= 0 && m.shares[i] != s {
		m.shares[i] = s
		m.summed, m.stale = false, true
	}
}

// Stop removes the task and reports the work it had done. If the task has completed but is not
// yet reported, Stop returns the report of its completion.
func (m *Machine) Stop(now float64, slot hosts.Slot) (r hosts.Report) {
	m.advance(now)
	i := m.find(slot)
	// A completed task awaits its report: return the report now, and only once.
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

// Rate returns the work per second that the task currently receives, or 0 if it has completed.
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

// Processors returns the number of processors that each running task receives, in order of
// start.
func (m *Machine) Processors() []float64 {
	if m.stale {
		m.divide()
	}
	return m.rates
}

// Done returns the work that the task had done at the time to which the machine was last
// advanced.
func (m *Machine) Done(slot hosts.Slot) float64 {
	i := m.find(slot)
	if i == over {
		return m.ended[m.reported(slot)].Done
	}
	return m.tasks[i].done
}

// Next returns the earliest time at which a task completes if nothing changes, or +Inf if no
// task will complete. The time is in the past if a task has completed but is not yet reported.
func (m *Machine) Next() float64 {
	if len(m.ended) > 0 {
		return m.ended[0].At
	}
	if m.stale {
		m.divide()
	}
	return m.next
}

// Advance moves the machine to now, ends the tasks that have completed, and appends their
// reports to out. Reports are in order of completion; ties are in order of start.
func (m *Machine) Advance(now float64, out []hosts.Report) []hosts.Report {
	// Return early if the time is unchanged, nothing has changed and nothing is due.
	if now == m.now && !m.stale && now < m.next && len(m.ended) == 0 {
		return out
	}
	from := len(out)
	own := m.ended // append new completions directly to out
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

// advance moves the machine to now and ends every task that completes by then.
func (m *Machine) advance(now float64) {
	if now != m.now {
		m.pass(now)
	}
}

// pass implements advance for times after the machine's current time. It panics if the time is
// earlier.
func (m *Machine) pass(now float64) {
	if !(now > m.now) {
		panic(fmt.Sprintf("hosts/sim: host %s: found time %v after %v, want a later time", m.spec.Name, now, m.now))
	}
	if m.Len() == 0 {
		m.now = now
		return
	}
	if m.stale || m.next <= now {
		m.completeUntil(now)
	}
	if m.now != now { // if the times are equal, the last completion was at exactly now
		m.accrue(now)
	}
}

// completeUntil ends the tasks that complete by now, each at its own time. From that time on,
// the remaining tasks share the processors that it used.
func (m *Machine) completeUntil(now float64) {
	// Complete the tasks in order. After each completion the remaining tasks may be faster, so
	// the next completion may now be before now.
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

// hold subtracts the resources of the task in slot from the room.
func (m *Machine) hold(slot hosts.Slot, r hosts.Resources) {
	for int(slot) >= len(m.holds) {
		m.holds = append(m.holds, hosts.Resources{})
	}
	m.holds[slot], m.holding = r, true
	m.room = m.room.Sub(r)
	m.use(&r, -m.now)
}

// release returns the resources of the task in slot to the room. The task must already be
// removed from tasks.
func (m *Machine) release(slot hosts.Slot) {
	if int(slot) >= len(m.holds) || m.holds[slot].Zero() {
		return
	}
	m.use(&m.holds[slot], m.now)
	m.holds[slot] = hosts.Resources{}
	m.recount()
}

// find returns the index in tasks of the slot's task, or over. It panics if the slot is
// vacant.
func (m *Machine) find(slot hosts.Slot) int32 {
	if int(slot) < len(m.place) && m.place[slot] >= over {
		return m.place[slot]
	}
	panic(fmt.Sprintf("hosts/sim: host %s has no task in slot %d", m.spec.Name, slot))
}

// reported returns the index in ended of the slot's report.
func (m *Machine) reported(slot hosts.Slot) int {
	i := 0
	for m.ended[i].Slot != slot {
		i++
	}
	return i
}

// vacate makes the slot available again.
func (m *Machine) vacate(slot hosts.Slot) {
	m.place[slot] = vacant - m.unused
	m.unused = int32(slot)
}

// check panics if s is not a valid share.
func check(s hosts.Share) {
	if !(s.Weight >= 0 && s.Limit >= 0) || math.IsInf(s.Weight, 1) {
		panic(refused(s))
	}
}

// refused returns the message with which check panics.
func refused(s hosts.Share) string { return fmt.Sprintf("hosts/sim: share %+v", s) }
