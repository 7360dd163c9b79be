// Package remote represents a remote host in its market: the orders for the host and its
// reports. It is independent of the transport and has no clock, goroutine or lock.
//
// Orders describe the complete wanted state rather than actions, so lost orders are harmless.
// Reports are cumulative: repeated, late and lost reports do not change the final result.
package remote

import (
	"fmt"
	"math"
	"slices"

	"bourse/hosts"
)

// A Machine is a [hosts.Metered] that represents a remote host.
type Machine struct {
	spec  hosts.Spec
	room  hosts.Resources
	tasks []task // by slot
	free  []hosts.Slot
	order []hosts.Slot // slots of the tasks on the host, in order of start
	names int64        // number of names assigned so far

	number  int64 // number of the last allocation
	changed bool  // whether anything has changed since the last allocation
	shares  []hosts.Share
	gets    []float64 // processors of each task, in order; valid if not stale
	stale   bool

	session  session
	readings []hosts.Reading
	ended    []hosts.Report
	now      float64 // time of the last report
	cut      int

	begun float64 // time from which the total length of spans is limited
	told  float64 // total length of the spans, in seconds
	until float64 // end of the last span, on the host's clock
}

// A task is a task wanted on the host, with the host's reports about it.
type task struct {
	hosts.Task
	name  int64
	share hosts.Share
	used  float64 // processor-seconds, as last reported
	done  float64 // work
	ended bool    // its end was reported and is in Machine.ended
}

// A session is a period in which one agent reports without restarting its counters.
type session struct {
	id   int64
	boot string // identity of the agent
	ack  int64  // number of its last booked span
}

var _ hosts.Metered = (*Machine)(nil)

// New returns the machine of a host that offers spec.
func New(spec hosts.Spec) *Machine {
	return &Machine{spec: spec, room: spec.Offers(), stale: true}
}

// Continue makes m, which must be unused, continue the task names of another machine in the
// same folder, so that no name is reused.
func (m *Machine) Continue(other *Machine) { m.names = other.names }

// A Rest is the state of a machine without tasks. Its fields are stored, so they keep their names;
// an absent field is 0.
type Rest struct {
	Names   int64   `json:"names,omitempty"`
	Number  int64   `json:"number,omitempty"`
	Session int64   `json:"session,omitempty"`
	Boot    string  `json:"boot,omitempty"`
	Ack     int64   `json:"ack,omitempty"`
	Now     float64 `json:"now,omitempty"`
	Cut     int     `json:"cut,omitempty"`
	Begun   float64 `json:"begun,omitempty"`
	Told    float64 `json:"told,omitempty"`
	Until   float64 `json:"until,omitempty"`
}

// Rest returns the state of m, which has no tasks.
func (m *Machine) Rest() Rest {
	return Rest{m.names, m.number, m.session.id, m.session.boot, m.session.ack, m.now, m.cut, m.begun, m.told, m.until}
}

// Resume makes m, which must be unused, continue from r.
func (m *Machine) Resume(r Rest) {
	m.names, m.number, m.session = r.Names, r.Number, session{r.Session, r.Boot, r.Ack}
	m.now, m.cut, m.begun, m.told, m.until = r.Now, r.Cut, r.Begun, r.Told, r.Until
}

// Spec implements [hosts.Machine].
func (m *Machine) Spec() *hosts.Spec { return &m.spec }

// Room implements [hosts.Machine].
func (m *Machine) Room() hosts.Resources { return m.room }

// Start implements [hosts.Machine]. It does not check anything that only the host knows.
func (m *Machine) Start(_ float64, t hosts.Task, s hosts.Share) (hosts.Slot, error) {
	if !t.Holds.Fit(m.room) {
		return 0, fmt.Errorf("host %s: task %d holds %+v: only %+v is left", m.spec.Name, t.Key, t.Holds, m.room)
	}
	m.names++
	one := task{Task: t, name: m.names, share: s}
	slot := hosts.Slot(len(m.tasks))
	if n := len(m.free); n > 0 {
		slot, m.free = m.free[n-1], m.free[:n-1]
		m.tasks[slot] = one
	} else {
		m.tasks = append(m.tasks, one)
	}
	m.order = append(m.order, slot)
	m.change()
	m.hold()
	return slot, nil
}

// SetShare implements [hosts.Machine].
func (m *Machine) SetShare(_ float64, slot hosts.Slot, s hosts.Share) {
	m.tasks[slot].share = s
	m.change()
}

// Stop implements [hosts.Machine]. Work that the task does before the host learns of the stop
// is not charged.
func (m *Machine) Stop(now float64, slot hosts.Slot) hosts.Report {
	if at := slices.IndexFunc(m.ended, func(r hosts.Report) bool { return r.Slot == slot }); at >= 0 {
		r := m.ended[at]
		m.ended = slices.Delete(m.ended, at, at+1)
		m.vacate(slot)
		return r
	}
	t := &m.tasks[slot]
	r := hosts.Report{Key: t.Key, At: now, Done: t.done, Exit: hosts.Exit{Slot: slot}}
	m.vacate(slot)
	return r
}

// Rate implements [hosts.Machine]. It returns the rate to which the task is entitled.
func (m *Machine) Rate(slot hosts.Slot) float64 {
	return m.Processors()[slices.Index(m.order, slot)] * m.spec.Speed
}

// Processors implements [hosts.Machine]. It returns the processors to which tasks are entitled.
func (m *Machine) Processors() []float64 {
	if m.stale {
		m.shares = m.shares[:0]
		for _, slot := range m.order {
			m.shares = append(m.shares, m.tasks[slot].share)
		}
		m.gets = slices.Grow(m.gets[:0], len(m.shares))[:len(m.shares)]
		hosts.Divide(m.spec.CPUs, m.spec.Cap, m.shares, m.gets)
		m.stale = false
	}
	return m.gets
}

// Next implements [hosts.Machine]. It returns only ends that the host has reported.
func (m *Machine) Next() float64 {
	if len(m.ended) > 0 {
		return m.now
	}
	return math.Inf(1)
}

// Advance implements [hosts.Machine].
func (m *Machine) Advance(_ float64, out []hosts.Report) []hosts.Report {
	for _, r := range m.ended {
		m.vacate(r.Slot)
		out = append(out, r)
	}
	m.ended = m.ended[:0]
	return out
}

// Deal implements [hosts.Metered].
func (m *Machine) Deal() int64 {
	m.changed = false
	m.number++
	return m.number
}

// Readings implements [hosts.Metered].
func (m *Machine) Readings(out []hosts.Reading) []hosts.Reading {
	out = append(out, m.readings...)
	m.readings = m.readings[:0]
	return out
}

// Cut returns the number of truncated values; see [Machine.Hear].
func (m *Machine) Cut() int { return m.cut }

func (m *Machine) change() { m.changed, m.stale = true, true }

// vacate removes the ended task in slot from m.
func (m *Machine) vacate(slot hosts.Slot) {
	m.readings = slices.DeleteFunc(m.readings, func(r hosts.Reading) bool { return r.Slot == slot })
	m.order = slices.DeleteFunc(m.order, func(s hosts.Slot) bool { return s == slot })
	m.tasks[slot] = task{}
	m.free = append(m.free, slot)
	m.change()
	m.hold()
}

// hold recomputes the free resources from scratch, so that rounding errors do not accumulate.
func (m *Machine) hold() {
	m.room = m.spec.Offers()
	for _, slot := range m.order {
		m.room = m.room.Sub(m.tasks[slot].Holds)
	}
}
