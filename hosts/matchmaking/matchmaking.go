// Package matchmaking chooses among clusters that quote for a job. It is independent of the
// value of jobs and of the acceptance rules of clusters.
//
// Reference: Farooq, Majumdar, Parsons, "A Framework to Achieve Guaranteed QoS for Applications
// and High System Performance in Multi-Institutional Grid Computing", §3.1.
//
// To add an algorithm, write its file and add a line to the table below.
package matchmaking

import (
	"math/rand/v2"

	"bourse/hosts/timetable"
	"bourse/workloadgen/plugin"
)

// A Seller is a matchmaker's view of a cluster. Requesting a quote does not change the seller.
// [timetable.Book] and [timetable.Preemptive] are sellers.
type Seller interface {
	Quote(now int64, j timetable.Job) timetable.Quote
}

// A Choice is a seller and its quote.
type Choice struct {
	Seller int // index in the selection window
	Quote  timetable.Quote
}

// A Matchmaker chooses one seller of the selection window for j, or none if no seller can
// accept j. Ties go to the lowest index unless the algorithm specifies a different rule. A
// matchmaker may keep state between calls.
type Matchmaker interface {
	Match(now int64, j timetable.Job, window []Seller) (Choice, bool)
}

// Table returns the algorithms. The matchmakers that the table creates draw random numbers from
// rng.
func Table(rng *rand.Rand) plugin.Table[Matchmaker] {
	return plugin.Table[Matchmaker]{Kind: "matchmaker", Members: plugin.Members[Matchmaker]{
		"ff":   {"the first cluster that accepts the job (first fit)", plugin.Is[Matchmaker](firstFit{})},
		"imct": {"the cluster that completes the job first", plugin.Is[Matchmaker](minCompletion{})},
		"maxu": {"the most utilized cluster", newMaxUtilization},
		"minu": {"the least utilized cluster", newMinUtilization},
		"mli":  {"the cluster whose reservations lose the least laxity", newMinImpact},
		"nf":   {"the next cluster in turn that accepts the job (next fit)", newNextFit},
		"ran":  {"a random cluster that accepts the job", newRandom(rng)},
	}}
}
