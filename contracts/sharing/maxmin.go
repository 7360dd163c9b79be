package sharing

import (
	"bourse/contracts"
	"bourse/hosts"
)

// maxmin shares a host by weighted max-min fairness: capacity that a task at its limit cannot
// use goes to the other tasks in proportion to their weights (Bertsekas, Gallager, "Data
// Networks", §6.5). For example, on a host with 10 processors, tasks with limits of 2, 2.6, 4
// and 5 receive 2, 2.6, 2.7 and 2.7.
type maxmin struct{ lasting }

// newMaxMin returns the rule with equal weights. With bids as weights, the rule equals auction.
func newMaxMin(decode func(any) error) (Rule, error) {
	o := struct {
		Weight string `yaml:"weight" validate:"oneof=equal bid" doc:"weight of a task: equal (1) or bid (as in auction)"`
	}{"equal"}
	if err := decode(&o); err != nil {
		return nil, err
	}
	if o.Weight == "bid" {
		return new(auction), nil
	}
	return maxmin{}, nil
}

// Share implements [FixedShares].
func (maxmin) Share(c *contracts.Contract, _ *contracts.Placement, _ contracts.View) hosts.Share {
	return hosts.Share{Weight: 1, Limit: c.Needs.Max.CPU}
}
