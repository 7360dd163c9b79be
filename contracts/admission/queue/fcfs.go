// Package queue contains the policies that put requests in a queue and start them when
// processors are free. Examples are fcfs, edf and easy, which run one task per processor, and
// queue, which chooses hosts by their predicted availability (hosts/availability/sched). The
// package is independent of prices.
package queue

import (
	"math/rand/v2"

	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/bidding"
)

// Policies returns the policies of this package, by name.
func Policies() map[string]admission.Policy {
	return map[string]admission.Policy{
		"conservative": planned("first come, first served; each request reserves the earliest start that moves no other (conservative backfilling)", newConservative),
		"drf":          planned("the user with the lowest dominant share first (dominant resource fairness)", newDRF),
		"fairshare":    planned("who has used less than its share first (Slurm's classic fair share)", newFairShare),

		"easy":   {Doc: "first come, first served, with EASY backfilling", New: newEasy, Properties: admission.Properties{Sharing: "exclusive", Queues: true, Packs: true}},
		"edf":    {Doc: "earliest deadline first, in a queue", New: newEDF, Properties: admission.Properties{Sharing: "exclusive", Deadlines: true, Packs: true}},
		"fcfs":   {Doc: "first come, first served, in a queue", New: newFCFS, Properties: admission.Properties{Sharing: "exclusive", Queues: true, Packs: true}},
		"queue":  {Doc: "first come, first served, on hosts predicted to stay (volunteers)", New: newQueue, Properties: admission.Properties{Sharing: "exclusive", Queues: true}},
		"posted": {Doc: "list prices that depend on the load", New: newPosted, Properties: admission.Properties{Sharing: "exclusive", Rated: true}},
	}
}

// fcfs runs requests on one processor per node, in order of arrival. The first request waits
// until the number of free processors is at least its number of nodes, and all other requests
// wait behind it. No request overtakes another one, so a wide request can leave processors
// idle (see easy).
type fcfs struct{ free }

// newFCFS returns a fcfs policy, which has no options.
func newFCFS(decode func(any) error, _ bidding.Strategy, _ *rand.Rand) (contracts.Policy, error) {
	return admission.Queued(&fcfs{}, admission.Order{}), decode(&struct{}{})
}

// Decide implements [contracts.Decider].
func (p *fcfs) Decide(_ float64, r *contracts.Request, v contracts.View) contracts.Decision {
	p.see(v)
	switch {
	case p.start(r, v):
		return p.accept(r)
	case !everHolds(r, v):
		return contracts.Decision{Reason: contracts.TooFewHosts}
	}
	return contracts.Decision{Verdict: contracts.Defer}
}
