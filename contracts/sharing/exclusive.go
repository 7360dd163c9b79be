package sharing

import (
	"math"

	"bourse/contracts"
	"bourse/hosts"
)

// exclusive gives each task a processor of its own. The tasks of a contract
// whose nodes are promised one by one keep the pace of the slowest, as those of a
// parallel program do: all end together.
type exclusive struct {
	lasting
	id     contracts.ID // the contract last looked at
	resent int          // how often it had been placed again
	pace   float64      // the least speed of its hosts, 0 before any
}

func newExclusive(decode func(any) error) (Rule, error) {
	return &exclusive{}, decode(&struct{}{})
}

// Ending implements [Ender].
func (*exclusive) Ending() Ending { return WithNodes }

// Share implements [Lasting].
func (e *exclusive) Share(c *contracts.Contract, on *contracts.Placement, v contracts.View) hosts.Share {
	share := hosts.Share{Weight: 1, Limit: 1}
	if c.PerHost && len(c.Placements) > 1 {
		share.Limit = e.slowest(c, v) / v.Spec(on.Host).Speed
	}
	return share
}

// slowest returns the least speed of the hosts of c.
func (e *exclusive) slowest(c *contracts.Contract, v contracts.View) float64 {
	if c.ID != e.id || c.Resent != e.resent || e.pace == 0 {
		e.id, e.resent, e.pace = c.ID, c.Resent, math.Inf(1)
		for i := range c.Placements {
			e.pace = min(e.pace, v.Spec(c.Placements[i].Host).Speed)
		}
	}
	return e.pace
}
