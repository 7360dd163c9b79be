package libra

import (
	"math"

	"bourse/contracts"
	"bourse/hosts"
	"bourse/market"
)

// still is a market that stands still at instant 0.
type still struct {
	contracts.View
	specs     []hosts.Spec
	on        [][]contracts.Allocation
	contracts []contracts.Contract
}

// add puts a task on host h. What is left of it is in seconds there.
func (s *still) add(h int, g goldenTask) {
	left := g.Left * s.specs[h].Speed
	if g.Runtime == 0 {
		g.Runtime, g.Deadline = left, g.Span
	}
	c := contracts.Contract{Request: contracts.Request{
		Submit: g.Span - g.Deadline, Work: g.Runtime, Nodes: 1, PerHost: true,
		SLA: contracts.SLA{Deadline: g.Deadline, Soft: !g.Hard, Penalty: contracts.Penalty{Rate: g.Penalty, Max: math.Inf(1)}},
	}}
	if g.Budget > 0 {
		j := job{Budget: g.Budget}
		c.SLA.Budget = j.request().SLA.Budget
	}
	st := contracts.Allocation{Contract: int32(len(s.contracts)), Done: g.Runtime - left, Need: g.Keep}
	if g.Target != nil {
		st.Target = *g.Target
	}
	s.contracts = append(s.contracts, c)
	s.on[h] = append(s.on[h], st)
}

func (s *still) Fleet() int { return len(s.specs) }

func (s *still) Spec(h hosts.ID) *hosts.Spec { return &s.specs[h] }

func (s *still) Room(h hosts.ID) hosts.Resources { return s.specs[h].Room }

func (s *still) Price(hosts.ID) market.Rate { return 0 }

func (s *still) On(h hosts.ID) []contracts.Allocation { return s.on[h] }

func (s *still) Changed() []hosts.ID { return nil }

func (s *still) Contract(i int32) *contracts.Contract { return &s.contracts[i] }

func (s *still) Away(hosts.ID) bool { return false }
