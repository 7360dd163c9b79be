package remote

import (
	"math"
	"slices"

	"bourse/hosts"
)

// What a host tells is cut where it cannot be: what it may be off by, as measured
// (live.md §5).
const (
	loose = 1.02
	slack = 0.02 // s
	drift = 500e-6
	late  = 30 // s for which what is told may have been on the way: longer, and the host is given up
)

// Hear takes in what the host has told, at now, and returns the names whose ends have been
// heard. An agent whose session is older than the last, or counts the same and is another,
// is not listened to: ok is false, and somebody else stands for this host. Nor is one that
// does not know whom it follows: it is told, and has to wait until nothing of the other's
// runs.
//
// No task uses less than it has, or more than its part of a processor for as long as the
// span lasts; all together use no more than the host has; and spans together last no longer
// than the host has been there, nor than since it was last heard, but for what may have
// been long on the way. What is more is cut, and counted.
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

// span takes in one span.
func (m *Machine) span(now float64, s *Span) {
	length := s.Length
	if s.At > 0 {
		// An agent that follows another does not know what of that one's was heard last.
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
			continue // it has been stopped: nobody pays
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
	slices.SortFunc(m.readings[from:], func(a, b hosts.Reading) int { return int(a.Slot) - int(b.Slot) })
}

// bounded returns x, at least 0 and at most so much.
func (m *Machine) bounded(x, most float64) float64 {
	if x >= 0 && x <= most {
		return x
	}
	m.cut++
	if x > most {
		return max(0, most)
	}
	return 0 // or it is no number
}

// end takes in that a task is over.
func (m *Machine) end(now float64, e End) {
	slot, ok := m.find(e.Name)
	if !ok {
		return
	}
	t := &m.tasks[slot]
	t.ended = true
	m.ended = append(m.ended, hosts.Report{Key: t.Key, At: now, Done: t.done, Exit: hosts.Exit{Slot: slot, Why: e.Why, Code: e.Code}})
}

// find returns the slot of the task of that name, unless it is over.
func (m *Machine) find(name int64) (hosts.Slot, bool) {
	for _, slot := range m.order {
		if t := &m.tasks[slot]; t.name == name && !t.ended {
			return slot, true
		}
	}
	return 0, false
}

// Orders returns what the host is to do as of now. It panics unless what is wanted has been
// dealt, as it is before time passes.
func (m *Machine) Orders(now float64, known []int64) Orders {
	if m.changed {
		panic("hosts/remote: orders of shares that have not been dealt")
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
