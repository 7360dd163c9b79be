// Package matchmaking chooses among clusters that quote for a job. It does not
// know what a job is worth, or why a cluster would or would not take it.
//
// Reference: Farooq, Majumdar, Parsons, "A Framework to Achieve Guaranteed QoS
// for Applications and High System Performance in Multi-Institutional Grid
// Computing", §3.1.
//
// To add an algorithm, write its file and its line in the table below.
package matchmaking

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"bourse/hosts/timetable"
)

// A Seller is a cluster as a matchmaker sees it: it quotes when asked, and a
// quote changes nothing. [timetable.Book] and [timetable.Cluster] are sellers.
type Seller interface {
	Quote(now int64, j timetable.Job) timetable.Quote
}

// A Choice is a seller and its quote.
type Choice struct {
	Seller int // index in the selection window
	Quote  timetable.Quote
}

// A Matchmaker chooses one seller of the selection window for j, or none if
// nobody can take it. Equals go to the lowest index unless the algorithm says
// otherwise. It may keep state between calls.
type Matchmaker interface {
	Match(now int64, j timetable.Job, window []Seller) (Choice, bool)
}

// A factory makes a matchmaker. Decode fills in the algorithm's own options
// struct and rejects unknown fields; rng is the algorithm's own stream.
type factory func(decode func(any) error, rng *rand.Rand) (Matchmaker, error)

// matchmakers is the table of algorithms by the name scenarios use.
var matchmakers = map[string]struct {
	doc string
	new factory
}{
	"ff":   {"the first cluster that can take it (first fit)", newFirstFit},
	"imct": {"the cluster that has it done first", newMinCompletion},
	"maxu": {"the cluster used most", newMaxUtilization},
	"minu": {"the cluster used least", newMinUtilization},
	"mli":  {"the cluster whose reservations lose least laxity", newMinImpact},
	"nf":   {"the next cluster in turn that can take it (next fit)", newNextFit},
	"ran":  {"a cluster that can take it, drawn by lot", newRandom},
}

// New makes the named matchmaker.
func New(name string, decode func(any) error, rng *rand.Rand) (Matchmaker, error) {
	m, ok := matchmakers[name]
	if !ok {
		return nil, fmt.Errorf("unknown matchmaker %q (known: %s)", name, strings.Join(Names(), ", "))
	}
	return m.new(decode, rng)
}

// Names returns the names of the algorithms, sorted.
func Names() []string { return slices.Sorted(maps.Keys(matchmakers)) }

// Doc returns one line on the named algorithm, empty if there is none.
func Doc(name string) string { return matchmakers[name].doc }
