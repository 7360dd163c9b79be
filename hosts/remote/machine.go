// Package remote is a host elsewhere as its market sees it: what it is to do, and what it
// has told. It does not know how messages travel, and has no clock, goroutine or lock.
//
// Orders are not commands: they say what is wanted, as a whole, and whoever has missed
// some has missed nothing. What is told is cumulative: told twice, late or not at all, it
// comes to the same in the end.
package remote

import (
	"fmt"
	"math"
	"slices"

	"bourse/hosts"
)

// A Machine is a [hosts.Metered] that stands for a host elsewhere.
type Machine struct {
	spec  hosts.Spec
	room  hosts.Resources
	tasks []task // by slot
	free  []hosts.Slot
	order []hosts.Slot // of those that are on it, in order of start
	names int64        // given so far

	number  int64 // of the deal
	changed bool  // since that was dealt
	shares  []hosts.Share
	gets    []float64 // processors, by order; good while not stale
	stale   bool

	session  session
	readings []hosts.Reading
	ended    []hosts.Report
	now      float64 // instant of what was told last
	cut      int

	begun float64 // instant since which spans are counted
	told  float64 // s, the sum of theirs
	until float64 // end of the last, by the host's clock
}

// A task is what is wanted of the host, and what it has told of it.
type task struct {
	hosts.Task
	name  int64
	share hosts.Share
	used  float64 // s of a processor, as told last
	done  float64 // work
	ended bool    // it was told, and is in Machine.ended
}

// A session is a time in which one agent tells without a break in its counting.
type session struct {
	id   int64
	boot string // of the agent
	ack  int64  // of its spans, the last that is booked
}

var _ hosts.Metered = (*Machine)(nil)

// New returns the machine of a host that offers spec.
func New(spec hosts.Spec) *Machine {
	return &Machine{spec: spec, room: spec.Room, stale: true}
}

// Continue has m, on which nothing was started, go on with the names of tasks of another machine in
// the same folder: none is given twice.
func (m *Machine) Continue(other *Machine) { m.names = other.names }

// Spec implements [hosts.Machine].
func (m *Machine) Spec() *hosts.Spec { return &m.spec }

// Room implements [hosts.Machine].
func (m *Machine) Room() hosts.Resources { return m.room }

// Start implements [hosts.Machine]. It never fails for what cannot be known here.
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

// Stop implements [hosts.Machine]. What the task does until the host has heard of it is
// charged to nobody.
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

// Rate implements [hosts.Machine]: what the task is entitled to.
func (m *Machine) Rate(slot hosts.Slot) float64 {
	return m.Processors()[slices.Index(m.order, slot)] * m.spec.Speed
}

// Processors implements [hosts.Machine]: what tasks are entitled to.
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

// Next implements [hosts.Machine]: nothing is known of what has not been told.
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

// Cut returns how often more was told than can be: see [Machine.Hear].
func (m *Machine) Cut() int { return m.cut }

func (m *Machine) change() { m.changed, m.stale = true, true }

// vacate takes slot, whose task is over, off m.
func (m *Machine) vacate(slot hosts.Slot) {
	m.readings = slices.DeleteFunc(m.readings, func(r hosts.Reading) bool { return r.Slot == slot })
	m.order = slices.DeleteFunc(m.order, func(s hosts.Slot) bool { return s == slot })
	m.tasks[slot] = task{}
	m.free = append(m.free, slot)
	m.change()
	m.hold()
}

// hold counts anew what no task holds: a sum that is not added up and down does not drift.
func (m *Machine) hold() {
	m.room = m.spec.Room
	for _, slot := range m.order {
		m.room = m.room.Sub(m.tasks[slot].Holds)
	}
}
