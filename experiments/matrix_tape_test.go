package experiments

import (
	"fmt"
	"slices"

	"bourse/contracts"
	"bourse/contracts/broker"
	"bourse/hosts"
	"bourse/market"
)

// A tape records the decisions in a run: the requests, the hosts and bids of each contract, and
// the starts and ends of tasks. It does not contain shares and charges, because the replay
// computes them itself.
type tape struct {
	parts   broker.Config // broker components before they were wrapped
	asked   map[contracts.ID]*contracts.Request
	events  []tapeEvent
	pending []tapeEvent                            // starts that were decided but have not happened
	homes   map[contracts.ID][]contracts.Placement // hosts of booked contracts
	amiss   []string                               // events that the recording could not interpret
}

// A tapeMove is the kind of a recorded event.
type tapeMove string

const (
	taskStarts  tapeMove = "starts"
	taskLeaves  tapeMove = "leaves"
	repeatEnds  tapeMove = "repeat refused" // a contract whose host left cannot end in time
	bookPauses  tapeMove = "pause"
	bookEnds    tapeMove = "end"
	bookKills   tapeMove = "kill"
	ownerCancel tapeMove = "cancel"
)

type tapeEvent struct {
	at       float64
	what     tapeMove
	id       contracts.ID
	node     int
	host     hosts.ID
	nodes    int // number of nodes of a booked contract
	bid      market.Rate
	done     float64     // work that the machine reports for a task that ends
	promised market.Rate // promised rate of a start, under payment percentile
	due      float64     // part of the price that is owed after a cancellation

	decision *contracts.Decision // decision on a pending start, which is dropped if the decision is refused
}

func (e tapeEvent) String() string {
	return fmt.Sprintf("%v: %d/%d %s h%02d, bid %d, done %v", e.at, e.id, e.node, e.what, e.host, e.bid, e.done)
}

// newTape wraps the parts so that a tape records their events.
func newTape(parts *broker.Config) *tape {
	t := &tape{parts: *parts, asked: make(map[contracts.ID]*contracts.Request), homes: make(map[contracts.ID][]contracts.Placement)}
	if parts.Availability != nil { // the next replication uses its own tape in the same memory
		p := *parts.Availability
		p.Histories = slices.Clone(p.Histories)
		t.parts.Availability = &p
	}
	parts.Fleet = slices.Clone(parts.Fleet)
	for h := range parts.Fleet {
		parts.Fleet[h] = &tapedMachine{parts.Fleet[h], t, hosts.ID(h), make(map[hosts.Slot]tapeEvent)}
	}
	parts.Policy = &tapedPolicy{parts.Policy, t}
	return t
}

// ask records a request in the form in which it was submitted.
func (t *tape) ask(r *contracts.Request) {
	copied := *r
	t.asked[r.ID] = &copied
}

// expect records that tasks of id will start on these hosts, unless d is refused later.
func (t *tape) expect(id contracts.ID, d *contracts.Decision) {
	for n, pl := range d.Placements {
		t.pending = append(t.pending, tapeEvent{what: taskStarts, id: id, node: n, host: pl.Host, nodes: int(pl.Nodes), bid: pl.Bid, promised: pl.Promised, decision: d})
	}
}

// A tapedMachine is a machine that records when tasks start and end.
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
	i := slices.IndexFunc(t.pending, func(e tapeEvent) bool {
		return e.host == m.host && (e.decision == nil || e.decision.Verdict == contracts.Accept)
	})
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

// leave records the end of a task.
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

// A tapedPolicy is a policy whose actions are recorded.
type tapedPolicy struct {
	contracts.Policy
	tape *tape
}

// Err returns the error that stopped the policy, if any.
func (p *tapedPolicy) Err() error {
	if f, ok := p.Policy.(interface{ Err() error }); ok {
		return f.Err()
	}
	return nil
}

// Pending returns the wrapped policy's Pending, if it has that method.
func (p *tapedPolicy) Pending(idle bool) bool {
	own, ok := p.Policy.(interface{ Pending(idle bool) bool })
	return !ok || own.Pending(idle)
}

// Handle implements [contracts.Policy].
func (p *tapedPolicy) Handle(now float64, e contracts.Event, m contracts.Market) []contracts.Action {
	t := p.tape
	if e.Kind == contracts.Submitted {
		t.ask(m.Request(e.Contract))
	}
	actions := p.Policy.Handle(now, e, m)
	t.pending = t.pending[:0]
	for k := range actions {
		a := &actions[k]
		if a.Verb == contracts.Announce {
			continue
		}
		r := m.Request(a.Contract)
		e := tapeEvent{at: now, id: r.ID}
		if home := t.homes[r.ID]; home != nil && a.Part >= 0 {
			e.node, e.host, e.nodes = int(a.Part), home[a.Part].Host, home[a.Part].Nodes
		}
		if a.Part == contracts.All && a.Verb == contracts.Launch {
			t.expect(r.ID, a.Decision)
		}
		if a.Part == contracts.All || a.Verb == contracts.Rebid {
			continue // this type is needed for policies that are not replayed
		}
		switch a.Verb {
		case contracts.Admit:
			t.expect(r.ID, a.Decision)
			continue
		case contracts.Launch:
			e.what = taskStarts
			t.pending = append(t.pending, e)
			continue
		case contracts.Book:
			t.homes[r.ID] = slices.Clone(a.Decision.Placements)
			continue
		case contracts.Refuse:
			if !r.Repeat {
				continue
			}
			e.what = repeatEnds
		case contracts.Suspend:
			e.what = bookPauses
		case contracts.Finish:
			e.what = bookEnds
		case contracts.Stop:
			e.what = bookKills
		case contracts.Release:
			e.what, e.due = ownerCancel, a.Due/a.Of
		default:
			continue
		}
		t.events = append(t.events, e)
	}
	return actions
}
