package sharing

import (
	"math"

	"bourse/contracts"
	"bourse/hosts"
)

// exclusive gives each task its own processor. If the nodes of a contract are promised
// separately, all its tasks run at the speed of the slowest host and end together. This models
// a tightly coupled program. For example, on hosts of speed 1 and 2 the second task gets half
// a processor.
type exclusive struct {
	lasting
	id    contracts.ID // contract for which pace was computed
	moves int          // number of placements of the contract when pace was computed; a new placement has new hosts
	pace  float64      // lowest speed of the contract's hosts; 0 before the first call
}

func newExclusive(decode func(any) error) (Rule, error) {
	return &exclusive{}, decode(&struct{}{})
}

// Ending implements [Ender]. The tasks of a contract keep the same pace, so they end together.
func (*exclusive) Ending() Ending { return WithNodes }

// Share implements [FixedShares]. The limit is in processors of the task's host.
func (e *exclusive) Share(c *contracts.Contract, on *contracts.Placement, v contracts.View) hosts.Share {
	share := hosts.Share{Weight: 1, Limit: 1}
	if c.PerHost && len(c.Placements) > 1 {
		share.Limit = e.slowest(c, v) / v.Spec(on.Host).Speed
	}
	return share
}

// slowest returns the lowest speed of the hosts of c. It caches the result, because Share calls
// it for each node of a contract.
func (e *exclusive) slowest(c *contracts.Contract, v contracts.View) float64 {
	if moves := c.Resent + c.Suspensions; c.ID != e.id || moves != e.moves || e.pace == 0 {
		e.id, e.moves, e.pace = c.ID, moves, math.Inf(1)
		for i := range c.Placements {
			e.pace = min(e.pace, v.Spec(c.Placements[i].Host).Speed)
		}
	}
	return e.pace
}
