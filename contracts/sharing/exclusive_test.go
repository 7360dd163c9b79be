package sharing

import (
	"testing"

	"bourse/contracts"
	"bourse/hosts"
)

// twoSpeeds is a fleet of hosts with speeds 1, 2 and 2, and one contract.
type twoSpeeds struct {
	contracts.View
	c *contracts.Contract
}

func (v twoSpeeds) Spec(h hosts.ID) *hosts.Spec {
	return &hosts.Spec{CPUs: 1, Speed: []float64{1, 2, 2}[h]}
}
func (v twoSpeeds) Contract(int32) *contracts.Contract { return v.c }

// TestPaceAgain checks that a parallel program that is placed again, because a host has left,
// has the pace of its present hosts, not of its former hosts.
func TestPaceAgain(t *testing.T) {
	t.Parallel()
	c := &contracts.Contract{Request: contracts.Request{ID: 7, PerHost: true, Nodes: 2}, Placements: []contracts.Placement{{Host: 0}, {Host: 1}}}
	rule, view := new(exclusive), twoSpeeds{c: c}
	limit := func() float64 { return rule.Share(c, &c.Placements[1], view).Limit }
	if got := limit(); got != 0.5 {
		t.Errorf("limit %v beside a host of half its speed, want 0.5", got)
	}
	c.Placements[0].Host, c.Resent = 2, 1
	if got := limit(); got != 1 {
		t.Errorf("limit %v beside a host of its speed, want 1", got)
	}
}
