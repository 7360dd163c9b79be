package sharing

import (
	"bourse/contracts"
	"bourse/hosts"
)

// auction shares a host in proportion to bids (eq. 4). The weight of a task is its bid, and its
// limit is the number of processors that it may use. With bids of 3 and 1 on a host with 4
// processors, the tasks get 3 processors and 1 processor.
type auction struct{ lasting }

// ByBids implements [Bidding].
func (*auction) ByBids() {}

// Share implements [FixedShares]. The weight changes only with the bid, although the resulting
// share changes as other tasks come and go.
func (*auction) Share(c *contracts.Contract, on *contracts.Placement, _ contracts.View) hosts.Share {
	return hosts.Share{Weight: float64(on.Bid), Limit: c.Needs.Max.CPU}
}
