package admission

import (
	"math/rand/v2"
	"slices"

	"bourse/contracts"
	"bourse/contracts/bidding"
)

// A Policy is the entry of an admission policy in a table.
type Policy struct {
	Doc string // one-line description
	New Factory
	Properties
}

// Properties are the properties of an admission policy that other packages need. They belong to
// the policy itself, not to the label under which it runs.
type Properties struct {
	Sharing string // the sharing rule for which the policy is designed
	Tests   []Test // comparisons that it makes, in order

	Spot      bool     // it runs a spot market: it admits whatever can be placed, so prices reflect demand
	Forecasts bool     // it uses price forecasts
	Queues    bool     // it is a queue that starts jobs in order of arrival
	Deadlines bool     // it cannot decide sensibly if jobs have no deadlines
	Packs     bool     // it can place several nodes of a request on one host, each on a processor of its own
	Single    bool     // it sells the processors of one host
	Books     bool     // it promises hosts and times to requests, and starts and ends them itself
	Rated     bool     // it sets the rates of its contracts, which are charged as bids
	Clears    bool     // it sells units by clearings, and suspends and moves contracts
	Free      bool     // whether all its rates are 0
	Classes   []string // the classes that requests can name; nil if it ignores classes
}

// A Factory creates a policy. decode fills in the policy's own options struct and rejects
// unknown fields. bid chooses hosts, and rng is the policy's own random stream.
type Factory func(decode func(any) error, bid bidding.Strategy, rng *rand.Rand) (contracts.Policy, error)

// Policies returns the policies of this package, by the name used in scenarios. Package
// policies has those of all packages.
func Policies() map[string]Policy {
	return map[string]Policy{
		"be":  {Doc: "best effort: admit everything that can be placed (§3)", New: newBestEffort, Properties: Properties{Sharing: "auction", Spot: true}},
		"cac": {Doc: "capacity: admit if no contract would be violated (§3, eq. 6)", New: newCapacity, Properties: Properties{Sharing: "auction", Tests: slices.Concat(statisticalTests, capacityTests), Forecasts: true}},
		"rac": {Doc: "random: reject a fixed fraction of requests (§4.3)", New: newRandom, Properties: Properties{Sharing: "auction"}},
		"sac": {Doc: "statistical: admit if the bids pay the price percentile (§3, eq. 5)", New: newStatistical, Properties: Properties{Sharing: "auction", Tests: statisticalTests, Forecasts: true}},
	}
}

// A Test compares two numbers of a decision. A request that was rejected for Reason failed the
// test. Reports use tests to show how far a request was from being accepted.
type Test struct {
	Reason contracts.Reason
	Got    string // name of the number that is tested
	Want   string // name of the number that it must reach; nodes and budget are those of the request
	AtMost bool   // if set, Got must not exceed Want
	Word   string // phrase for Got in reports
}
