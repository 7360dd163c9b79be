package sharing

import (
	"bourse/contracts"
	"bourse/hosts"
)

// gang gives each task as many processors as its contract has nodes on the host. The planning
// policy never books more nodes on a host than the host has processors. Every gang therefore
// receives its full share.
type gang struct{ lasting }

// Share implements [FixedShares]. Weight and limit are both the number of nodes.
func (gang) Share(c *contracts.Contract, on *contracts.Placement, _ contracts.View) hosts.Share {
	n := float64(c.Nodes)
	if c.Gang {
		n = float64(on.Nodes)
	}
	return hosts.Share{Weight: n, Limit: n}
}
