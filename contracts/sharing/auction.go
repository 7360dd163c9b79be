package sharing

import (
	"bourse/contracts"
	"bourse/hosts"
)

// auction gives each contract what its bid buys (eq. 4): a weight equal to its
// bid, limited to the processors it asked for at most.
type auction struct{ lasting }

// ByBids implements [Bidding].
func (*auction) ByBids() {}

// Share implements [Lasting].
func (*auction) Share(c *contracts.Contract, on *contracts.Placement, _ contracts.View) hosts.Share {
	return hosts.Share{Weight: float64(on.Bid), Limit: c.Needs.Max.CPU}
}
