package live

import (
	"slices"

	"bourse/contracts"
	"bourse/hosts"
)

// A Mark is the state of a contract at one time.
type Mark struct {
	At    float64 `json:"at" doc:"time of the recorded state"`
	Share float64 `json:"share" doc:"mean share of a host to which each node of the contract is entitled; 0 while the contract waits"`
	Work  float64 `json:"work" doc:"work of all nodes up to the recorded state, in processor-seconds"`
}

// A past is the history of contracts since the market was opened. It covers open contracts
// and those that ended most recently.
type past struct {
	lines map[int64]*pastLine
	ended []int64 // contracts that have ended, in order of their ends
	next  float64 // time at which the next marks are due
}

// A pastLine is the history of one contract, oldest first.
type pastLine struct {
	marks []Mark
	apart float64 // minimum number of seconds between marks, except before the last mark
}

const (
	mostMarks = 256 // maximum number of marks per contract; at this number, every other mark is dropped
	mostEnded = 256
	markEvery = 1.0 // minimum number of seconds between marks
)

func (p *past) init() { p.lines = make(map[int64]*pastLine) }

// mark records the state of all open contracts if the last marks are old enough.
func (p *past) mark(k *core, v contracts.View, now float64) {
	if now < p.next {
		return
	}
	p.next = now + markEvery
	stand := make(map[int64]Mark, len(k.open))
	for id := range k.open {
		stand[id] = Mark{At: now}
	}
	for h := range k.hosts {
		for _, a := range v.On(hosts.ID(h)) {
			c := k.open[int64(v.Contract(a.Contract).ID)]
			if c == nil {
				continue
			}
			s := stand[c.ID]
			s.Share += a.Rate / k.hosts[h].Spec.Capacity() / float64(c.Nodes)
			s.Work += a.Done
			stand[c.ID] = s
		}
	}
	for id, s := range stand {
		p.add(id, s)
	}
}

// end records the final state of a contract.
func (p *past) end(c *Contract, now float64) {
	p.add(c.ID, Mark{At: max(now, c.Ended), Work: c.Done})
	p.ended = append(p.ended, c.ID)
	if len(p.ended) > mostEnded {
		delete(p.lines, p.ended[0])
		p.ended = slices.Delete(p.ended, 0, 1)
	}
}

func (p *past) add(id int64, s Mark) {
	l := p.lines[id]
	if l == nil {
		l = new(pastLine)
		p.lines[id] = l
	}
	if n := len(l.marks); n > 1 {
		last, before, apart := &l.marks[n-1], &l.marks[n-2], l.apart
		if before.Share == last.Share && last.Share == s.Share {
			apart = max(apart, markEvery)
		}
		if last.At-before.At < apart {
			*last = s
			return
		}
	}
	l.marks = append(l.marks, s)
	if n := len(l.marks); n >= mostMarks {
		l.apart = 2 * (s.At - l.marks[0].At) / mostMarks
		for i := range n / 2 {
			l.marks[i] = l.marks[2*i]
		}
		l.marks = append(l.marks[:n/2], s)
	}
}

// Past returns a contract's history, oldest first. The market stores the history of
// contracts that are open or ended recently. The history begins when the market was opened.
func (m *Market) Past(id int64) []Mark {
	s := &m.seen
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.past.lines[id]; l != nil {
		return slices.Clone(l.marks)
	}
	return nil
}
