// Package bidding converts a request's spending rate into hosts and bids. Each strategy has
// its own file.
//
// A request names a budget v, a deadline d and a number of nodes n. It can therefore spend v/d
// dollars per second. A strategy decides how to divide this rate among hosts. Strategies are
// independent of admission: a policy decides afterwards whether the proposed bids are
// sufficient.
//
// To add a strategy, write its file and add a line to the table below.
package bidding

import (
	"math/rand/v2"

	"bourse/contracts"
	"bourse/workloadgen/plugin"
)

// A Strategy chooses the hosts of a request and the bid on each.
type Strategy interface {
	// Place appends one placement per node to out and returns None. If this is impossible, it
	// returns the reason.
	Place(r *contracts.Request, v contracts.View, out []contracts.Placement) ([]contracts.Placement, contracts.Reason)
}

// Table returns the table of strategies. The argument rng is the random stream of the strategy
// that is created.
func Table(rng *rand.Rand) plugin.Table[Strategy] {
	return plugin.Table[Strategy]{Kind: "bidding strategy", Members: plugin.Members[Strategy]{
		"best-response": {"maximize the share obtained, anticipating the price", newBestResponse},
		"cheapest":      {"bid evenly on the hosts with the lowest spot prices", newCheapest},
		"emptiest":      {"bid evenly on the hosts with the fewest tasks, with ties broken at random", newEmptiest(rng)},
		"random":        {"bid evenly on hosts drawn at random", newRandom(rng)},
	}}
}
