// This file and the next ones study incentives: would a user gain by misreporting? The study
// runs the market with all users truthful, and again with a single user misreporting its jobs.
// It compares the true utility of that user in the two runs.
//
// A [Deviation] is one way to misreport. The study replaces the true jobs by the reported jobs
// (misreport) and runs the market on the reported jobs. It then computes the outcome of each
// true job from the outcomes of the reported jobs. A user's utility depends only on the true
// work and the true value, minus the payments (§4.2, eq. 9). The study measures the gain of one
// user at a time. It summarizes gains as means, fractions and intervals. Afterwards, users
// respond to each other until no user gains more than epsilon. In this part, users do not split
// jobs, because the final state is compared with U*, the optimum for unsplit jobs.
//
// References, which are cited by § and eq.: Sandholm, Lai, Clearwater, "Admission Control
// in a Computational Market".
//
// A user who misreports does so for all of its jobs. If a user misreports the deadline, it
// also cancels the job at the true deadline, when the work loses its value. A delayed job
// keeps its true deadline and therefore has less time.
//
// The reports of all other users, the plan, the hosts and the random streams are the same
// as in the truthful run. A policy that uses random numbers draws one number per request.
// If a user splits a job, later jobs therefore get different numbers from the same stream.

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

// A Deviation is one way to misreport. The zero Deviation is truthful.
type Deviation struct {
	Kind string  // empty, or a kind that [ParseDeviation] accepts
	By   float64 // factor or amount by which the report deviates; see [DeviationKinds]
}

// A kind is a kind of misreport.
type kind struct {
	name, doc string
	wants     string // valid values of By
	good      func(by float64) bool
	say       func(j workloadgen.Job, by float64) []workloadgen.Job // function that returns the jobs to submit instead; the first has the number of the true job
	names     bool                                                  // whether each job is submitted under its own user name
	divides   bool                                                  // whether the jobs spread the work over more nodes than the true job
}

// mostParts is the maximum number of parts of a job.
const mostParts = 64

func factor(by float64) bool { return by > 0 && by <= 1000 && by != 1 }
func parts(by float64) bool  { return by >= 2 && by <= mostParts && by == math.Trunc(by) }

// kinds are the kinds of misreport.
var kinds = []kind{
	{
		name: "value", doc: "factor by which the value is multiplied to obtain the budget",
		wants: "a factor above 0, at most 1000, not 1", good: factor,
		say: func(j workloadgen.Job, by float64) []workloadgen.Job {
			j.Value = min(exact.Product(j.Value, by), workloadgen.MaxDollars)
			return []workloadgen.Job{j}
		},
	},
	{
		name: "estimate", doc: "factor by which the estimate of the work is multiplied",
		wants: "a factor above 0, at most 1000, not 1", good: factor,
		say: func(j workloadgen.Job, by float64) []workloadgen.Job {
			j.Estimate = min(j.Estimate*by, workloadgen.MaxSeconds)
			return []workloadgen.Job{j}
		},
	},
	{
		name: "deadline", doc: "factor by which the reported time until the deadline is multiplied; the job is cancelled at the true deadline",
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
		name: "delay", doc: "fraction of the time until the deadline by which the submission is delayed",
		wants: "a fraction above 0 and below 1", good: func(by float64) bool { return by > 0 && by < 1 },
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
		name: "sybils", doc: "number of jobs into which a job is split by nodes; each part is submitted under a different name",
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
		name: "split", doc: "number of jobs into which a job is split by work; each part has all nodes and a part of the work of each node",
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

// UsualDeviations returns the default deviations.
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

// ParseDeviation parses a deviation such as value=0.5.
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
	return Deviation{}, misuse.Errorf("found %q, want KIND=NUMBER, with one of these kinds: %s", text, strings.Join(names, ", "))
}

// DeviationKinds describes the kinds of misreport, with one line for each.
func DeviationKinds() string {
	var b strings.Builder
	for i := range kinds {
		fmt.Fprintf(&b, "   %-10s%s\n", kinds[i].name, kinds[i].doc)
	}
	return b.String()
}

// String returns d in the format of [ParseDeviation], or "truth".
func (d Deviation) String() string {
	if d.Kind == "" {
		return "truth"
	}
	return d.Kind + "=" + strconv.FormatFloat(d.By, 'g', -1, 64)
}

// kind returns the kind of d, or nil if d is truthful.
func (d Deviation) kind() *kind {
	for i := range kinds {
		if kinds[i].name == d.Kind {
			return &kinds[i]
		}
	}
	if d.Kind != "" {
		panic("incentives: a deviation without a kind: " + d.Kind)
	}
	return nil
}
