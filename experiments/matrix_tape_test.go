package experiments

import (
	"fmt"
	"slices"

	"bourse/contracts"
	"bourse/contracts/broker"
	"bourse/hosts"
	"bourse/market"
)

// A tape records what was decided in a run: who asked for what, where it was placed
// and what it bid there, when its tasks came and went. What it was given, and what
// it was charged, are not on it: those the replay finds by itself.
type tape struct {
	parts   broker.Config // as they were before they were wrapped
	asked   map[contracts.ID]*contracts.Request
	events  []tapeEvent
	pending []tapeEvent // starts that were decided and have not happened
	homes   map[contracts.ID]hosts.ID
	now     float64
	amiss   []string // what the recording could not make sense of
}

// A tapeMove is what happened.
type tapeMove string

const (
	taskStarts  tapeMove = "starts"
	taskLeaves  tapeMove = "leaves"
	repeatEnds  tapeMove = "repeat refused" // a contract whose host left cannot end in time any more
	bookPauses  tapeMove = "pause"
	bookEnds    tapeMove = "end"
	bookKills   tapeMove = "kill"
	ownerCancel tapeMove = "cancel"
)

type tapeEvent struct {
	at   float64
	what tapeMove
	id   contracts.ID
	node int
	host hosts.ID
	bid  market.Rate
	done float64 // of a task that leaves: work that the machine reports
	due  float64 // of a cancellation: the part of the price that is owed
}

func (e tapeEvent) String() string {
	return fmt.Sprintf("%v: %d/%d %s h%02d, bid %d, done %v", e.at, e.id, e.node, e.what, e.host, e.bid, e.done)
}

// newTape wraps the parts so that a tape records them.
func newTape(parts *broker.Config) *tape {
	t := &tape{parts: *parts, asked: make(map[contracts.ID]*contracts.Request), homes: make(map[contracts.ID]hosts.ID)}
	if parts.Presence != nil { // the next replication has its own in the same memory
		p := *parts.Presence
		p.Histories = slices.Clone(p.Histories)
		t.parts.Presence = &p
	}
	parts.Fleet = slices.Clone(parts.Fleet)
	for h := range parts.Fleet {
		parts.Fleet[h] = &tapedMachine{parts.Fleet[h], t, hosts.ID(h), make(map[hosts.Slot]tapeEvent)}
	}
	parts.Policy = t.policy(parts.Policy)
	return t
}

// policy wraps p as what it is.
func (t *tape) policy(p contracts.Policy) contracts.Policy {
	plain := tapedPolicy{p, t}
	planner, plans := p.(contracts.Planner)
	dispatcher, dispatches := p.(contracts.Dispatcher)
	orderer, orders := p.(contracts.Orderer)
	scanner, scans := p.(contracts.Scanner)
	patient, waits := p.(contracts.Patient)
	switch {
	case plans && !dispatches && !orders:
		return &tapedPlanner{plain, planner}
	case dispatches && !plans && !orders:
		return &tapedDispatcher{plain, dispatcher}
	case scans && !plans && !dispatches && !waits:
		return &tapedScanner{tapedOrderer{plain, orderer}, scanner}
	case waits && !plans && !dispatches && !scans:
		return &tapedPatient{tapedOrderer{plain, orderer}, patient}
	case orders && !plans && !dispatches:
		return &tapedOrderer{plain, orderer}
	case !plans && !dispatches:
		return &plain
	}
	panic(fmt.Sprintf("the matrix does not know how to record a policy that is all that %T is", p))
}

// ask notes a request, as it was first made.
func (t *tape) ask(now float64, r *contracts.Request) {
	t.now = now
	if t.asked[r.ID] == nil {
		copied := *r
		t.asked[r.ID] = &copied
	}
}

// expect notes that tasks of id are to start there.
func (t *tape) expect(id contracts.ID, on []contracts.Placement) {
	for n, pl := range on {
		t.pending = append(t.pending, tapeEvent{what: taskStarts, id: id, node: n, host: pl.Host, bid: pl.Bid})
	}
}

// steps notes what a planner decided.
func (t *tape) steps(now float64, all []contracts.Step) {
	t.pending = t.pending[:0]
	for _, s := range all {
		e := tapeEvent{at: now, id: s.ID, host: t.homes[s.ID]}
		switch s.Move {
		case contracts.Start:
			e.what = taskStarts
			t.pending = append(t.pending, e)
			continue
		case contracts.Pause:
			e.what = bookPauses
		case contracts.End:
			e.what = bookEnds
		case contracts.Kill:
			e.what = bookKills
		}
		t.events = append(t.events, e)
	}
}

// A tapedMachine tells when tasks come and go.
type tapedMachine struct {
	hosts.Machine
	tape *tape
	host hosts.ID
	on   map[hosts.Slot]tapeEvent
}

// Start implements [hosts.Machine].
func (m *tapedMachine) Start(now float64, task hosts.Task, s hosts.Share) (hosts.Slot, error) {
	slot, err := m.Machine.Start(now, task, s)
	if err != nil {
		return slot, err
	}
	t := m.tape
	i := slices.IndexFunc(t.pending, func(e tapeEvent) bool { return e.host == m.host })
	if i < 0 {
		t.amiss = append(t.amiss, fmt.Sprintf("at %v a task starts on host %d that no policy has placed there", now, m.host))
		return slot, nil
	}
	e := t.pending[i]
	t.pending = slices.Delete(t.pending, i, i+1)
	e.at = now
	m.on[slot] = e
	t.events = append(t.events, e)
	return slot, nil
}

// leave notes that a task has gone.
func (m *tapedMachine) leave(now float64, r hosts.Report) {
	e, ok := m.on[r.Slot]
	if !ok {
		m.tape.amiss = append(m.tape.amiss, fmt.Sprintf("at %v a task leaves host %d that is not there", now, m.host))
		return
	}
	delete(m.on, r.Slot)
	e.at, e.what, e.done = now, taskLeaves, r.Done
	m.tape.events = append(m.tape.events, e)
}

// Stop implements [hosts.Machine].
func (m *tapedMachine) Stop(now float64, slot hosts.Slot) hosts.Report {
	r := m.Machine.Stop(now, slot)
	m.leave(now, r)
	return r
}

// Advance implements [hosts.Machine].
func (m *tapedMachine) Advance(now float64, out []hosts.Report) []hosts.Report {
	from := len(out)
	out = m.Machine.Advance(now, out)
	for _, r := range out[from:] {
		m.leave(now, r)
	}
	return out
}

// A tapedPolicy tells what it decides.
type tapedPolicy struct {
	contracts.Policy
	tape *tape
}

// Decide implements [contracts.Policy].
func (p *tapedPolicy) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	t := p.tape
	t.ask(now, r)
	d := p.Policy.Decide(now, r, v)
	t.pending = t.pending[:0]
	switch {
	case d.Verdict == contracts.Accept:
		t.expect(r.ID, d.Placements)
	case d.Verdict == contracts.Reject && d.Reason == contracts.TooLate && r.Repeat:
		t.events = append(t.events, tapeEvent{at: now, what: repeatEnds, id: r.ID})
	}
	return d
}

type tapedOrderer struct {
	tapedPolicy
	orderer contracts.Orderer
}

// Less implements [contracts.Orderer].
func (p *tapedOrderer) Less(a, b *contracts.Request) bool { return p.orderer.Less(a, b) }

type tapedScanner struct {
	tapedOrderer
	scanner contracts.Scanner
}

// Scan implements [contracts.Scanner].
func (p *tapedScanner) Scan(now float64) { p.scanner.Scan(now) }

type tapedPatient struct {
	tapedOrderer
	patient contracts.Patient
}

// Patient implements [contracts.Patient].
func (p *tapedPatient) Patient() { p.patient.Patient() }

type tapedPlanner struct {
	tapedPolicy
	planner contracts.Planner
}

// Decide implements [contracts.Policy].
func (p *tapedPlanner) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	p.tape.ask(now, r)
	d := p.planner.Decide(now, r, v)
	if d.Verdict == contracts.Accept {
		p.tape.homes[r.ID] = d.Placements[0].Host
	}
	return d
}

// Commit implements [contracts.Planner].
func (p *tapedPlanner) Commit(now float64, out []contracts.Step) ([]contracts.Step, error) {
	from := len(out)
	out, err := p.planner.Commit(now, out)
	p.tape.steps(now, out[from:])
	return out, err
}

// Next implements [contracts.Planner].
func (p *tapedPlanner) Next() float64 { return p.planner.Next() }

// Done implements [contracts.Planner].
func (p *tapedPlanner) Done(now float64, id contracts.ID) { p.planner.Done(now, id) }

// Advance implements [contracts.Planner].
func (p *tapedPlanner) Advance(now float64, out []contracts.Step) []contracts.Step {
	from := len(out)
	out = p.planner.Advance(now, out)
	p.tape.steps(now, out[from:])
	return out
}

// Cancel implements [contracts.Planner].
func (p *tapedPlanner) Cancel(now float64, id contracts.ID, out []contracts.Step) (float64, []contracts.Step, error) {
	from := len(out)
	due, out, err := p.planner.Cancel(now, id, out)
	if err == nil {
		p.tape.events = append(p.tape.events, tapeEvent{at: now, what: ownerCancel, id: id, due: due})
		p.tape.steps(now, out[from:])
	}
	return due, out, err
}

type tapedDispatcher struct {
	tapedPolicy
	dispatcher contracts.Dispatcher
}

// Open implements [contracts.Dispatcher].
func (p *tapedDispatcher) Open(now float64, v contracts.View) { p.dispatcher.Open(now, v) }

// Next implements [contracts.Dispatcher].
func (p *tapedDispatcher) Next() float64 { return p.dispatcher.Next() }

// Look implements [contracts.Dispatcher].
func (p *tapedDispatcher) Look(now float64, v contracts.View, out []contracts.Answer) []contracts.Answer {
	from := len(out)
	out = p.dispatcher.Look(now, v, out)
	t := p.tape
	t.pending = t.pending[:0]
	for _, a := range out[from:] {
		if a.Verdict == contracts.Accept {
			t.expect(a.ID, a.Placements)
		} else if a.Reason == contracts.TooLate {
			t.events = append(t.events, tapeEvent{at: now, what: repeatEnds, id: a.ID})
		}
	}
	return out
}

// Came implements [contracts.Dispatcher].
func (p *tapedDispatcher) Came(now float64, h hosts.ID) { p.dispatcher.Came(now, h) }

// Gone implements [contracts.Dispatcher].
func (p *tapedDispatcher) Gone(now float64, h hosts.ID) { p.dispatcher.Gone(now, h) }

// Off implements [contracts.Dispatcher].
func (p *tapedDispatcher) Off(now float64, id contracts.ID, h hosts.ID) {
	p.tape.pending = slices.DeleteFunc(p.tape.pending, func(e tapeEvent) bool { return e.id == id })
	p.dispatcher.Off(now, id, h)
}

// Again implements [contracts.Dispatcher].
func (p *tapedDispatcher) Again(now float64, id contracts.ID) bool {
	return p.dispatcher.Again(now, id)
}

// Withdraw implements [contracts.Dispatcher].
func (p *tapedDispatcher) Withdraw(id contracts.ID) { p.dispatcher.Withdraw(id) }
