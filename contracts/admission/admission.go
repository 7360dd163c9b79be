package admission

import (
	"math/rand/v2"
	"slices"

	"bourse/contracts"
	"bourse/contracts/bidding"
)

// A Policy is the table entry of an admission policy.
type Policy struct {
	Doc string // one-line description
	New Factory
	Properties
}

// Properties describe an admission policy to other packages. The properties belong to the
// policy itself, not to the name that a scenario gives it.
type Properties struct {
	Sharing string // sharing rule for which the policy is designed
	Tests   []Test // comparisons that the policy makes, in order

	Spot      bool     // whether the policy runs a spot market: it admits all requests that can be placed, so prices reflect demand
	Forecasts bool     // whether the policy uses price forecasts
	Queues    bool     // whether the policy is a queue that starts jobs in order of arrival
	Deadlines bool     // whether the policy cannot decide sensibly if jobs have no deadlines
	Packs     bool     // whether the policy can place several nodes of a request on one host, each on a separate processor
	Single    bool     // whether the policy sells the processors of one host
	Books     bool     // whether the policy promises hosts and times to requests, and starts and ends them itself
	Rated     bool     // whether the policy sets the rates of its contracts, which are charged like bids
	Clears    bool     // whether the policy sells units in auction clearings, and suspends and moves contracts
	Free      bool     // whether all rates of the policy are 0
	Classes   []string // classes that requests can name; nil if the policy ignores classes
}

// A Factory creates a policy. The function decode fills in the policy's own options struct and
// rejects unknown fields; bid chooses hosts, and rng is the policy's own random stream.
type Factory func(decode func(any) error, bid bidding.Strategy, rng *rand.Rand) (contracts.Policy, error)

// Policies returns the policies of this package, by the name used in scenarios. Package
// policies combines the policies of all packages.
func Policies() map[string]Policy {
	return map[string]Policy{
		"be":  {Doc: "best effort: admit everything that can be placed (§3)", New: newBestEffort, Properties: Properties{Sharing: "auction", Spot: true}},
		"cac": {Doc: "capacity: admit if no contract would be violated (§3, eq. 6)", New: newCapacity, Properties: Properties{Sharing: "auction", Tests: slices.Concat(statisticalTests, capacityTests), Forecasts: true}},
		"rac": {Doc: "random: reject a fixed fraction of requests (§4.3)", New: newRandom, Properties: Properties{Sharing: "auction"}},
		"sac": {Doc: "statistical: admit if the bids pay the price percentile (§3, eq. 5)", New: newStatistical, Properties: Properties{Sharing: "auction", Tests: statisticalTests, Forecasts: true}},
	}
}

// A Test is a comparison of two numbers of a decision. A request that was rejected for Reason
// has failed the test. Reports use tests to show how far a request was from acceptance.
type Test struct {
	Reason contracts.Reason
	Got    string // name of the tested number
	Want   string // name of the number that Got must reach; nodes and budget mean the request's own
	AtMost bool   // if set, Got must not exceed Want
	Word   string // phrase for Got in reports
}
