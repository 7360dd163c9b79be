package sharing

import (
	"bourse/contracts"
	"bourse/hosts"
	"bourse/market"
)

// auction gives each contract what its bid buys (eq. 4): a weight equal to its
// bid, limited to the processors it asked for at most.
type auction struct{}

// Share implements [Lasting].
func (*auction) Share(c *contracts.Contract, bid market.Rate) hosts.Share {
	return hosts.Share{Weight: float64(bid), Limit: c.Needs.Max.CPU}
}

// Allocate implements [Rule].
func (*auction) Allocate(float64, hosts.ID, []contracts.Allocation, contracts.View) {}
