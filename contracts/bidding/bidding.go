// Package bidding turns a request's spending rate into hosts and bids, one
// strategy to a file.
//
// It does not know who is admitted, or whether deadlines are met. To add a
// strategy, write its file and its line in the table below.
package bidding

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"bourse/contracts"
)

// A Strategy chooses the hosts of a request and what to bid on each.
type Strategy interface {
	// Place appends one placement per node to out. It returns why it cannot,
	// or None.
	Place(r *contracts.Request, v contracts.View, out []contracts.Placement) ([]contracts.Placement, contracts.Reason)
}

// A factory makes a strategy. Decode fills in the strategy's own options
// struct and rejects unknown fields; rng is the strategy's own stream.
type factory func(decode func(any) error, rng *rand.Rand) (Strategy, error)

// strategies is the table of strategies by the name scenarios use.
var strategies = map[string]struct {
	doc string
	new factory
}{
	"cheapest":      {"bid evenly on the hosts of lowest spot price", newCheapest},
	"random":        {"bid evenly on hosts drawn at random", newRandom},
	"best-response": {"bid what maximises the share obtained, anticipating the price", newBestResponse},
}

// New makes the named strategy.
func New(name string, decode func(any) error, rng *rand.Rand) (Strategy, error) {
	s, ok := strategies[name]
	if !ok {
		return nil, fmt.Errorf("unknown bidding strategy %q, want one of %s", name, strings.Join(Names(), ", "))
	}
	return s.new(decode, rng)
}

// Names returns the names of the strategies, sorted.
func Names() []string { return slices.Sorted(maps.Keys(strategies)) }

// Doc returns the named strategy in one line.
func Doc(name string) string { return strategies[name].doc }
