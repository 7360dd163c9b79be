package libra

import (
	"math"

	"bourse/contracts"
	"bourse/contracts/admission/policytest"
)

// still is a market without prices at time 0, to which tasks are added.
type still struct{ policytest.Still }

// add puts a task on host h. Its remaining work is in seconds on that host.
func (s *still) add(h int, g goldenTask) {
	left := g.Left * s.Specs[h].Speed
	if g.Runtime == 0 {
		g.Runtime, g.Deadline = left, g.Span
	}
	c := contracts.Contract{Request: contracts.Request{
		Submit: g.Span - g.Deadline, Work: g.Runtime, Nodes: 1, PerHost: true,
		SLA: contracts.SLA{Deadline: g.Deadline, Soft: !g.Hard, Penalty: contracts.Penalty{Rate: g.Penalty, Max: math.Inf(1)}},
	}}
	if g.Budget > 0 {
		j := job{Budget: g.Budget}
		c.SLA.Budget = j.Request().SLA.Budget
	}
	st := contracts.Allocation{Contract: int32(len(s.Contracts)), Done: g.Runtime - left, Need: g.Keep}
	if g.Target != nil {
		st.Target = *g.Target
	}
	s.Contracts = append(s.Contracts, c)
	s.Allocations[h] = append(s.Allocations[h], st)
}
