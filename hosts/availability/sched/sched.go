// Package sched gives hosts that come and go to waiting jobs: a queue that is
// looked at now and then, and matchmakers that choose a host for the job in
// front. It knows a job by its number and length alone; it does not know what a
// job is worth, or how hosts run it.
//
// Reference: Zhang, Phillips, "Job-Scheduling with Resource Availability
// Prediction for Volunteer-Based Grid Computing", §4 and eq. 1.
//
// To add a matchmaker, write its file and its line in the table below.
package sched

import (
	"math/rand/v2"

	"bourse/hosts"
	"bourse/workloadgen/config"
)

// None is the answer of a matchmaker that takes no host.
const None hosts.ID = -1

// A Matchmaker chooses a host of the pool for a job of that length, in seconds
// of a host of its own and of speed 1, or None if it refuses all. It is asked when the pool
// has a host of the kind that it wants, and may keep state between calls.
type Matchmaker interface {
	Match(now, length float64, p *Pool) hosts.ID

	// Piles reports whether it wants every available host, or idle ones only.
	Piles() bool
}

// Table returns the matchmakers; rng is the stream of the one that is made.
func Table(rng *rand.Rand) config.Table[Matchmaker] {
	return config.Table[Matchmaker]{Kind: "matchmaker", Members: config.Members[Matchmaker]{
		"first-available": {"the host that has been idle longest", config.Is[Matchmaker](First{})},
		"pps":             {"the available host with the best score, idle or not", newPPS(rng)},
		"random":          {"a random idle host", newRandom(rng)},
		"threshold":       {"the first sufficiently reliable idle host", newThreshold},
	}}
}
