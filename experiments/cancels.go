package experiments

import (
	"errors"
	"math"

	"bourse/contracts"
	"bourse/contracts/broker"
)

// cancels is an event source that cancels jobs on behalf of their owners.
type cancels struct{ *workspace }

// Next implements [des.Source].
func (c cancels) Next() float64 {
	if _, at, ok := c.workspace.cancels.Min(); ok {
		return at
	}
	return math.Inf(1)
}

// Advance cancels each job that is due, unless the job was rejected or has ended.
func (c cancels) Advance(now float64) error {
	for c.Next() <= now {
		i, _, _ := c.workspace.cancels.Min()
		c.workspace.cancels.Remove(i)
		if err := c.broker.Cancel(now, contracts.ID(c.plan[i].ID)); err != nil && !errors.Is(err, broker.ErrNoContract) {
			return err
		}
	}
	return nil
}
