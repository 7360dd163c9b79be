package sharing

import (
	"bourse/contracts"
	"bourse/hosts"
)

// Auction gives each contract what its bid buys (eq. 4): a weight equal to its
// bid, limited to the processors it asked for at most.
type Auction struct{}

func newAuction(decode func(any) error) (Rule, error) { return new(Auction), decode(&struct{}{}) }

// Deal implements [Rule].
func (*Auction) Deal(_ float64, _ hosts.ID, on []contracts.Standing, v contracts.View) {
	for i := range on {
		if s := &on[i]; s.Share.Weight == 0 {
			s.Share = hosts.Share{Weight: float64(s.Bid), Limit: v.Contract(s.Contract).Needs.Max.CPU}
		}
	}
}
