// Package bidding turns a request's spending rate into hosts and bids, one
// strategy to a file.
//
// It does not know who is admitted, or whether deadlines are met. To add a
// strategy, write its file and its line in the table below.
package bidding

import (
	"math/rand/v2"

	"bourse/contracts"
	"bourse/workloadgen/plugin"
)

// A Strategy chooses the hosts of a request and what to bid on each.
type Strategy interface {
	// Place appends one placement per node to out. It returns why it cannot,
	// or None.
	Place(r *contracts.Request, v contracts.View, out []contracts.Placement) ([]contracts.Placement, contracts.Reason)
}

// Table returns the strategies; rng is the stream of the one that is made.
func Table(rng *rand.Rand) plugin.Table[Strategy] {
	return plugin.Table[Strategy]{Kind: "bidding strategy", Members: plugin.Members[Strategy]{
		"best-response": {"bid what maximises the share obtained, anticipating the price", newBestResponse},
		"cheapest":      {"bid evenly on the hosts of lowest spot price", newCheapest},
		"random":        {"bid evenly on hosts drawn at random", newRandom(rng)},
	}}
}
