package sharing

import (
	"bourse/contracts"
	"bourse/hosts"
)

// gang gives each task as many processors as its contract has nodes there: a planner
// puts no more on a host than it has.
type gang struct{ lasting }

// Share implements [Lasting].
func (gang) Share(c *contracts.Contract, on *contracts.Placement, _ contracts.View) hosts.Share {
	n := float64(c.Nodes)
	if c.Gang {
		n = float64(on.Nodes)
	}
	return hosts.Share{Weight: n, Limit: n}
}
