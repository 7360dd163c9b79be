package admission

import "bourse/contracts"

// Adapt makes a policy of d, as long as there are two brokers.
func Adapt(d contracts.Decider) contracts.Policy {
	switch d := d.(type) {
	case *Reserve:
		return &reserver{Reserve: d, at: idle}
	case *Queue:
		return &dispatcher{Queue: d}
	case contracts.Scanner:
		return Queued(d, Order{Less: d.Less, Scan: d.Scan})
	case contracts.Patient:
		return Queued(d, Order{Less: d.Less, Patient: true})
	case contracts.Orderer:
		return Queued(d, Order{Less: d.Less})
	}
	return Immediate(d)
}

// A reserver speaks for reserve.
type reserver struct {
	*Reserve
	number  map[contracts.ID]int32
	at      int
	said    contracts.Decision
	pending bool
	steps_  []contracts.Step
	actions []contracts.Action
}

func (p *reserver) Next() (float64, bool) { return p.Reserve.Next(), false }

func (p *reserver) Handle(now float64, e contracts.Event, m contracts.Market) []contracts.Action {
	p.actions, p.steps_ = p.actions[:0], p.steps_[:0]
	if p.number == nil {
		p.number = make(map[contracts.ID]int32)
	}
	switch e.Kind {
	case contracts.Submitted:
		p.at = idle
		if !p.ask(now, e.Contract, m) {
			p.actions = append(p.actions, contracts.Action{Verb: contracts.Enqueue, Contract: e.Contract, Place: len(m.Waiting())})
		}
		return p.actions
	case contracts.Continue:
		if p.pending {
			p.pending = false
			if p.said.Verdict == contracts.Accept {
				if p.at >= 0 {
					p.at = 0
				}
				steps, err := p.Commit(now, p.steps_)
				if err != nil {
					panic(err)
				}
				if p.follow(steps); len(p.actions) > 0 {
					return p.actions
				}
			}
		}
	case contracts.Freed:
		p.at = 0
	case contracts.Done:
		p.at = idle
		p.Done(now, m.Request(e.Contract).ID)
		return nil
	case contracts.Tick:
		p.at = idle
		p.follow(p.Advance(now, p.steps_))
		return p.actions
	case contracts.Withdrawn:
		p.at = idle
		due, steps, err := p.Cancel(now, m.Request(e.Contract).ID, p.steps_)
		if err != nil {
			return nil
		}
		p.actions = append(p.actions, contracts.Action{Verb: contracts.Release, Contract: e.Contract, Part: due})
		p.follow(steps)
		return p.actions
	default:
		p.at = idle
	}
	if p.at == idle {
		return nil
	}
	for w := m.Waiting(); p.at < len(w); p.at++ {
		if p.ask(now, w[p.at], m) {
			return p.actions
		}
	}
	p.at = idle
	return nil
}

func (p *reserver) ask(now float64, i int32, m contracts.Market) bool {
	p.said = p.Decide(now, m.Request(i), m.Hosts())
	verb := contracts.Refuse
	switch p.said.Verdict {
	case contracts.Defer:
		return false
	case contracts.Accept:
		verb, p.pending = contracts.Book, true
		p.number[m.Request(i).ID] = i
	}
	p.actions = append(p.actions, contracts.Action{Verb: verb, Contract: i, Decision: &p.said})
	return true
}

func (p *reserver) follow(steps []contracts.Step) {
	p.steps_ = steps
	for _, s := range steps {
		verb := [...]contracts.Verb{contracts.Launch, contracts.Suspend, contracts.Finish, contracts.Stop}[s.Move]
		p.actions = append(p.actions, contracts.Action{Verb: verb, Contract: p.number[s.ID]})
	}
}

// A dispatcher speaks for queue.
type dispatcher struct {
	*Queue
	contract map[contracts.ID]int32
	answers  []contracts.Answer
	said     contracts.Decision
	actions  []contracts.Action
}

func (p *dispatcher) Next() (float64, bool) { return p.Queue.Next(), true }

func (p *dispatcher) Handle(now float64, e contracts.Event, m contracts.Market) []contracts.Action {
	switch e.Kind {
	case contracts.Opened:
		p.contract = make(map[contracts.ID]int32)
		p.Open(now, m.Hosts())
	case contracts.Submitted:
		r := m.Request(e.Contract)
		p.actions = p.actions[:0]
		if p.said = p.Decide(now, r, m.Hosts()); p.said.Verdict == contracts.Reject {
			return append(p.actions, contracts.Action{Verb: contracts.Refuse, Contract: e.Contract, Decision: &p.said})
		}
		p.contract[r.ID] = e.Contract
		return append(p.actions, contracts.Action{Verb: contracts.Enqueue, Contract: e.Contract, Place: len(m.Waiting())})
	case contracts.Lost:
		id := m.Request(e.Contract).ID
		p.Off(now, id, p.jobs[p.number[id]].bid.Host)
		if p.Again(now, id) {
			return append(p.actions[:0], contracts.Action{Verb: contracts.Enqueue, Contract: e.Contract, Place: len(m.Waiting())})
		}
		p.jobs[p.number[id]].bid.Host = -1
	case contracts.Over:
		id := m.Request(e.Contract).ID
		if j := &p.jobs[p.number[id]]; j.waits {
			p.Withdraw(id)
		} else if j.bid.Host >= 0 {
			p.Off(now, id, j.bid.Host)
		}
		delete(p.contract, id)
	case contracts.Came:
		p.Queue.Came(now, e.Host)
	case contracts.Gone:
		p.Queue.Gone(now, e.Host)
	case contracts.Tick:
		p.answers = p.Look(now, m.Hosts(), p.answers[:0])
		p.actions = p.actions[:0]
		for k := range p.answers {
			a := &p.answers[k]
			verb := contracts.Admit
			if a.Verdict == contracts.Reject {
				verb = contracts.Refuse
			}
			p.actions = append(p.actions, contracts.Action{Verb: verb, Contract: p.contract[a.ID], Decision: &a.Decision})
		}
		return p.actions
	case contracts.Continue:
		for k := range p.actions {
			if a := &p.actions[k]; a.Verb == contracts.Admit && a.Decision.Verdict == contracts.Reject {
				id := p.answers[k].ID
				p.Off(now, id, p.jobs[p.number[id]].bid.Host)
			}
		}
		p.actions, p.answers = p.actions[:0], p.answers[:0]
	}
	return nil
}
