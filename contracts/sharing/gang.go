package sharing

import (
	"bourse/contracts"
	"bourse/hosts"
)

// gang gives each task as many processors as its contract has nodes there: a planner
// puts no more on a host than it has.
type gang struct{}

// Allocate implements [Rule].
func (gang) Allocate(_ float64, _ hosts.ID, on []contracts.Allocation, v contracts.View) {
	for i := range on {
		if s := &on[i]; s.Share.Weight == 0 {
			c := v.Contract(s.Contract)
			n := float64(c.Nodes)
			if c.Gang {
				n = float64(c.Placements[s.Node].Nodes)
			}
			s.Share = hosts.Share{Weight: n, Limit: n}
		}
	}
}
