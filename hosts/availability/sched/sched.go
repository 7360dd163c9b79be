// Package sched assigns waiting jobs to hosts whose availability changes. The caller scans a
// queue from time to time, and a matchmaker chooses a host for the first job. The package
// identifies a job by its number and length. It is independent of the value of jobs and of how
// hosts run them.
//
// Reference: Zhang, Phillips, "Job-Scheduling with Resource Availability Prediction for
// Volunteer-Based Grid Computing", §4 and eq. 1.
//
// To add a matchmaker, write its file and add a line to the table below.
package sched

import (
	"math/rand/v2"

	"bourse/hosts"
	"bourse/workloadgen/plugin"
)

// None means that a matchmaker refuses all hosts.
const None hosts.ID = -1

// A Matchmaker chooses a host of the pool for a job of the given length (in seconds on an
// otherwise empty host of speed 1), or returns None. It is called only if the pool has an
// eligible host. It may keep state between calls.
type Matchmaker interface {
	Match(now, length float64, p *Pool) hosts.ID

	// Piles reports whether all available hosts are eligible; if not, only idle hosts are.
	Piles() bool
}

// Table returns the matchmakers. The created matchmaker draws from rng.
func Table(rng *rand.Rand) plugin.Table[Matchmaker] {
	return plugin.Table[Matchmaker]{Kind: "matchmaker", Members: plugin.Members[Matchmaker]{
		"first-available": {"the host that has been idle longest", plugin.Is[Matchmaker](First{})},
		"pps":             {"the available host with the best score, idle or not", newPPS(rng)},
		"random":          {"a random idle host", newRandom(rng)},
		"threshold":       {"the first sufficiently reliable idle host", newThreshold},
	}}
}
