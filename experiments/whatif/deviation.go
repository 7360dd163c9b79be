// Package incentives asks whether a user would gain by lying: what each would have, in true
// utility, if it said something else of its jobs and all others stayed as they are.
//
// A [Deviation] is one way not to say the truth. What is done with it is this: the true jobs
// of a market are put in other words ([Say]), somebody runs what was said, and tells what
// became of each job ([Fate]). The true work and the true value stay: they alone are what a
// user's utility is of (§4.2, eq. 9), less what it paid. [Market.Gains] does so for users
// one by one, and [Report.Sum] makes means, shares and intervals of it; [Market.Answer] lets all
// users answer one another until none gains more than epsilon. There they do not split jobs:
// what they come to is held against U*, the best plan for the jobs as they are.
//
// It does not know how markets are run, or what their policies are.
//
// References, cited by § and eq.: Sandholm, Lai, Clearwater, "Admission Control in a
// Computational Market".
//
// # Design
//
// A user who lies does so of all its jobs. A lie of the deadline comes with its other half:
// when the true deadline has come the work is worth nothing more, so the job is taken back.
// A delayed job, though, has its true deadline, and so less time.
//
// Everybody else says the same, and chance is the same: the work plan, hosts and streams are
// those of the truth. A policy that draws lots draws as many as it is asked, so that where a
// job comes as several, those after it see other lots of the same stream.
package whatif

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"bourse/bank/exact"
	"bourse/experiments/misuse"
	"bourse/workloadgen"
)

// A Deviation is one way not to say what is true. The zero Deviation is the truth.
type Deviation struct {
	Kind string  // empty, or one of the kinds that [Parse] knows
	By   float64 // how far
}

// A kind is a way to lie.
type kind struct {
	name, doc string
	wants     string // what By may be
	good      func(by float64) bool
	say       func(j workloadgen.Job, by float64) []workloadgen.Job // the jobs it comes as, the first under its own number
	names     bool                                                  // they come under a name each
	divides   bool                                                  // they are of another form than the job: their work is spread over more nodes
}

// mostParts bounds into how many jobs one is divided.
const mostParts = 64

func factor(by float64) bool { return by > 0 && by <= 1000 && by != 1 }
func parts(by float64) bool  { return by >= 2 && by <= mostParts && by == math.Trunc(by) }

// kinds are the ways to lie.
var kinds = []kind{
	{
		name: "value", doc: "the budget is so many times the value",
		wants: "a factor above 0, at most 1000, not 1", good: factor,
		say: func(j workloadgen.Job, by float64) []workloadgen.Job {
			j.Value = min(exact.Product(j.Value, by), workloadgen.MaxDollars)
			return []workloadgen.Job{j}
		},
	},
	{
		name: "estimate", doc: "the estimate of the work is so many times what it was",
		wants: "a factor above 0, at most 1000, not 1", good: factor,
		say: func(j workloadgen.Job, by float64) []workloadgen.Job {
			j.Estimate = min(j.Estimate*by, workloadgen.MaxSeconds)
			return []workloadgen.Job{j}
		},
	},
	{
		name: "deadline", doc: "the time until the deadline is so many times the true one, at which the job is taken back",
		wants: "a factor above 0, at most 1000, not 1", good: factor,
		say: func(j workloadgen.Job, by float64) []workloadgen.Job {
			if due := j.Deadline; !j.OnDemand && (j.Cancel == 0 || due < j.Cancel) {
				j.Cancel = due
			}
			j.Deadline = min(j.Deadline*by, workloadgen.MaxSeconds)
			return []workloadgen.Job{j}
		},
	},
	{
		name: "delay", doc: "the job is submitted after that part of the time until its deadline",
		wants: "a part, above 0 and below 1", good: func(by float64) bool { return by > 0 && by < 1 },
		say: func(j workloadgen.Job, by float64) []workloadgen.Job {
			late := j.Deadline * by
			j.Arrival, j.Deadline, j.Lead = j.Arrival+late, j.Deadline-late, max(0, j.Lead-late)
			if j.Cancel > 0 {
				j.Cancel = max(math.SmallestNonzeroFloat64, j.Cancel-late)
			}
			return []workloadgen.Job{j}
		},
	},
	{
		name: "sybils", doc: "a job comes as so many of fewer nodes, each under a name of its own",
		wants: "a whole number, 2 to 64", good: parts,
		say: func(j workloadgen.Job, by float64) (parts []workloadgen.Job) {
			n := min(int(by), j.Nodes)
			for i := range n {
				part := j
				if part.Nodes = j.Nodes / n; i < j.Nodes%n {
					part.Nodes++
				}
				part.Parts = min(j.Parts, part.Nodes)
				nodes, all := float64(part.Nodes), float64(j.Nodes)
				part.Value, part.PenaltyRate = exact.Quotient(all, j.Value, nodes), exact.Quotient(all, j.PenaltyRate, nodes)
				parts = append(parts, part)
			}
			return parts
		},
		names: true,
	},
	{
		name: "split", doc: "a job comes as so many on as many nodes, each with its part of every node's work",
		wants: "a whole number, 2 to 64", good: parts,
		say: func(j workloadgen.Job, by float64) (all []workloadgen.Job) {
			part := j
			part.Runtime, part.Estimate = j.Runtime/by, j.Estimate/by
			part.Value, part.PenaltyRate = exact.Quotient(by, j.Value), exact.Quotient(by, j.PenaltyRate)
			for range int(by) {
				all = append(all, part)
			}
			return all
		},
		divides: true,
	},
}

// UsualDeviations returns the deviations that are tried if nothing else is asked for.
func UsualDeviations() []Deviation {
	return []Deviation{
		{"value", 0.5}, {"value", 0.8}, {"value", 1.25}, {"value", 2},
		{"estimate", 0.8}, {"estimate", 1.25},
		{"deadline", 0.8}, {"deadline", 1.25},
		{"delay", 0.1},
		{"sybils", 2}, {"sybils", 4},
		{"split", 2}, {"split", 4},
	}
}

// ParseDeviation returns the deviation that text names: value=0.5.
func ParseDeviation(text string) (Deviation, error) {
	name, number, _ := strings.Cut(text, "=")
	var names []string
	for i := range kinds {
		k := &kinds[i]
		if names = append(names, k.name); k.name != name {
			continue
		}
		by, err := strconv.ParseFloat(number, 64)
		if err != nil || !k.good(by) {
			return Deviation{}, misuse.Errorf("%s: found %q, want %s", name, number, k.wants)
		}
		return Deviation{name, by}, nil
	}
	return Deviation{}, misuse.Errorf("found %q, want KIND=NUMBER, the kind one of %s", text, strings.Join(names, ", "))
}

// DeviationKinds returns the ways to lie and what each does, for people: a line each.
func DeviationKinds() string {
	var b strings.Builder
	for i := range kinds {
		fmt.Fprintf(&b, "   %-10s%s\n", kinds[i].name, kinds[i].doc)
	}
	return b.String()
}

// String returns d as [Parse] reads it, and "truth".
func (d Deviation) String() string {
	if d.Kind == "" {
		return "truth"
	}
	return d.Kind + "=" + strconv.FormatFloat(d.By, 'g', -1, 64)
}

// kind returns what d does, nil if it is the truth.
func (d Deviation) kind() *kind {
	for i := range kinds {
		if kinds[i].name == d.Kind {
			return &kinds[i]
		}
	}
	if d.Kind != "" {
		panic("incentives: a deviation of no kind: " + d.Kind)
	}
	return nil
}
