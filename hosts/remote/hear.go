package remote

import (
	"math"
	"slices"

	"bourse/hosts"
)

// Tolerances for the measurements of hosts (live.md §5). Reported usage beyond them is
// truncated.
const (
	loose = 1.02
	slack = 0.02 // s
	drift = 500e-6
	late  = 30 // maximum transmission delay of a report, in seconds; after that, the host is lost
)

// Hear processes the host's report at now, and returns the names of the tasks whose ends the
// host has reported. It ignores a report with an older session than the last one, or with the
// same session number but a different identity, because another agent represents this host. It
// also ignores a report of a new session from an agent that does not know its predecessor. In
// both cases ok is false.
//
// Hear truncates impossible values to the possible maximum and counts them. A task's usage
// never decreases. In a span, it is at most the task's share of the processors multiplied by
// the length of the span. All tasks together use at most the host's capacity. The total length
// of spans is at most the time since the host joined, and at most the time since the last
// report plus the possible transmission delay.
func (m *Machine) Hear(now float64, t *Told) (known []int64, ok bool) {
	if t.Session < m.session.id || t.Session == m.session.id && t.Boot != m.session.boot {
		return nil, false
	}
	if t.Session > m.session.id {
		if m.session.id > 0 && t.After != m.session.boot {
			return nil, false
		}
		if m.session.id == 0 {
			m.begun = now
		}
		m.session = session{id: t.Session, boot: t.Boot}
	}
	m.now = now
	for i := range t.Spans {
		if n := t.First + int64(i); n == m.session.ack+1 {
			m.session.ack = n
			m.span(now, &t.Spans[i])
		}
	}
	for _, e := range t.Ends {
		known = append(known, e.Name)
		m.end(now, e)
	}
	m.begun = max(m.begun, now-m.told-late)
	return known, true
}

// span processes one span.
func (m *Machine) span(now float64, s *Span) {
	length := s.Length
	if s.At > 0 {
		// An agent does not know how much of its predecessor's usage the market has received.
		length -= min(length, max(0, m.until-(s.At-length)))
		m.until = s.At
	}
	length = m.bounded(length, (now-m.begun)*(1+drift)+slack-m.told)
	if !(length > 0) {
		return
	}
	m.told += length
	room := m.spec.CPUs*length*loose + slack
	from := len(m.readings)
	for _, u := range s.Used {
		slot, ok := m.find(u.Name)
		if !ok {
			continue // the task was stopped, so its work is not paid
		}
		t := &m.tasks[slot]
		most := m.spec.CPUs
		for _, limit := range [...]float64{m.spec.Cap, t.share.Limit} {
			if limit > 0 {
				most = min(most, limit)
			}
		}
		used := m.bounded(u.Seconds-t.used, min(most*length*loose+slack, room))
		if !(used > 0) {
			continue
		}
		room -= used
		t.used += used
		work := min(used*m.spec.Speed, t.Work-t.done)
		t.done += work
		m.readings = append(m.readings, hosts.Reading{Slot: slot, Deal: s.Deal, Span: length, Work: work})
	}
	for _, slot := range m.order { // tasks pay for held resources, even if they use no processor
		t := &m.tasks[slot]
		if t.ended || t.Holds.Zero() {
			continue
		}
		if !slices.ContainsFunc(m.readings[from:], func(r hosts.Reading) bool { return r.Slot == slot }) {
			m.readings = append(m.readings, hosts.Reading{Slot: slot, Deal: s.Deal, Span: length})
		}
	}
	slices.SortFunc(m.readings[from:], func(a, b hosts.Reading) int { return int(a.Slot) - int(b.Slot) })
}

// bounded returns x, limited to the range from 0 to most.
func (m *Machine) bounded(x, most float64) float64 {
	if x >= 0 && x <= most {
		return x
	}
	m.cut++
	if x > most {
		return max(0, most)
	}
	return 0 // x is negative or not a number
}

// end processes the end of a task.
func (m *Machine) end(now float64, e End) {
	slot, ok := m.find(e.Name)
	if !ok {
		return
	}
	t := &m.tasks[slot]
	t.ended = true
	m.ended = append(m.ended, hosts.Report{Key: t.Key, At: now, Done: t.done, Exit: hosts.Exit{Slot: slot, Why: e.Why, Code: e.Code}})
}

// Again makes the host run a task once more under a new name. The host has reported the end of
// the task. The broker does not learn of the end, and the work of all tries is added.
func (m *Machine) Again(name int64) {
	for _, slot := range m.order {
		if t := &m.tasks[slot]; t.name == name && t.ended {
			m.ended = slices.DeleteFunc(m.ended, func(r hosts.Report) bool { return r.Slot == slot })
			m.names++
			t.name, t.ended, t.used = m.names, false, 0
		}
	}
}

// Unsaved returns the work that the task with the given name has done since its usage was the
// given number of processor-seconds. It returns false if the task is not wanted any more.
func (m *Machine) Unsaved(name int64, used float64) (work float64, ok bool) {
	for _, slot := range m.order {
		if t := &m.tasks[slot]; t.name == name {
			return max(0, t.used-max(0, used)) * m.spec.Speed, true
		}
	}
	return 0, false
}

// find returns the slot of the task with the given name, unless it has ended.
func (m *Machine) find(name int64) (hosts.Slot, bool) {
	for _, slot := range m.order {
		if t := &m.tasks[slot]; t.name == name && !t.ended {
			return slot, true
		}
	}
	return 0, false
}

// Orders returns the orders for the host as of now. It panics if there are changes without an
// allocation; time never advances in such a state.
func (m *Machine) Orders(now float64, known []int64) Orders {
	if m.changed {
		panic("hosts/remote: orders for shares that have not been allocated")
	}
	o := Orders{Session: m.session.id, Boot: m.session.boot, Ack: m.session.ack, Known: known, Deal: m.number}
	for _, slot := range m.order {
		t := &m.tasks[slot]
		if t.ended {
			continue
		}
		w := Wanted{Name: t.name, Key: t.Key, Weight: t.share.Weight, Limit: t.share.Limit, Work: t.Work}
		if t.Until > 0 {
			w.Left = max(t.Until-now, math.SmallestNonzeroFloat64)
		}
		o.Wanted = append(o.Wanted, w)
	}
	return o
}
