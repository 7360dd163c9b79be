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
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"bourse/hosts"
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

// A factory makes a matchmaker. Decode fills in the matchmaker's own options
// struct and rejects unknown fields; rng is its own stream.
type factory func(decode func(any) error, rng *rand.Rand) (Matchmaker, error)

// matchmakers is the table of matchmakers by the name scenarios use.
var matchmakers = map[string]struct {
	doc string
	new factory
}{
	"first-available": {"the host that has been idle longest", newFirst},
	"pps":             {"the available host of the best score, idle or not", newPPS},
	"random":          {"an idle host drawn by lot", newRandom},
	"threshold":       {"the first idle host that is reliable enough", newThreshold},
}

// New makes the named matchmaker. Decode nil leaves the defaults.
func New(name string, decode func(any) error, rng *rand.Rand) (Matchmaker, error) {
	m, ok := matchmakers[name]
	if !ok {
		return nil, fmt.Errorf("unknown matchmaker %q (known: %s)", name, strings.Join(Names(), ", "))
	}
	if decode == nil {
		decode = func(any) error { return nil }
	}
	made, err := m.new(decode, rng)
	if err != nil {
		return nil, fmt.Errorf("matchmaker %s: %w", name, err)
	}
	return made, nil
}

// Names returns the names of the matchmakers, sorted.
func Names() []string { return slices.Sorted(maps.Keys(matchmakers)) }

// Doc returns one line on the named matchmaker, empty if there is none.
func Doc(name string) string { return matchmakers[name].doc }
