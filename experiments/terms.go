package experiments

import (
	"fmt"
	"math"

	"bourse/bank"
	"bourse/contracts"
	"bourse/hosts"
	"bourse/workloadgen"
)

// Terms are the parts of a request that a what-if question may change.
type Terms struct {
	Budget   bank.Amount
	Deadline float64 // seconds after the submission
	Nodes    int
	Class    string
	Later    float64 // delay of the submission in seconds
}

// on applies t to r and task. The total work does not change; only the number of nodes that
// share it does.
func (t *Terms) on(r *contracts.Request, task *hosts.Task) {
	if t.Nodes != r.Nodes {
		each := float64(r.Nodes) / float64(t.Nodes)
		r.Work, task.Work = r.Work*each, task.Work*each
		r.Nodes, r.Parts = t.Nodes, min(r.Parts, t.Nodes)
	}
	r.SLA.Budget, r.SLA.Deadline, r.Class = t.Budget, t.Deadline, t.Class
}

// of returns a copy of j with the terms t.
func (t *Terms) of(j workloadgen.Job) *workloadgen.Job {
	each := float64(j.Nodes) / float64(t.Nodes)
	j.Runtime, j.Estimate, j.Nodes, j.Parts, j.Class = j.Runtime*each, j.Estimate*each, t.Nodes, min(j.Parts, t.Nodes), t.Class
	return &j
}

// A Dimension changes one of the terms in steps of equal size.
type Dimension struct {
	Of   string                   // budget, deadline, nodes, submit or class
	Most int64                    // largest number of steps
	At   func(steps int64) Terms  // function that returns the terms after the given number of steps
	By   func(steps int64) string // description of the change for users
}

const (
	mostTimes = 100       // largest multiple of the budget or deadline to try
	mostLater = 24 * 3600 // maximum delay of a submission to try, in seconds
)

// Cent is the size of one step of the budget.
var Cent = bank.Micros(10000)

// A bounds limits the terms to try.
type bounds struct {
	budget  bank.Amount
	nodes   int
	later   float64 // maximum delay of the submission in seconds
	classes []string
}

// dimensions returns the dimensions in which the terms in asked may change within b. If a job
// is submitted later, its deadline is delayed by the same time.
func dimensions(asked Terms, b bounds) (all []Dimension) {
	add := func(of string, most float64, change func(t *Terms, n int64), unit, how string) {
		if !(most >= 1) {
			return
		}
		all = append(all, Dimension{of, int64(min(most, 1<<40)), func(n int64) Terms {
			t := asked
			change(&t, n)
			return t
		}, func(n int64) string {
			if of == "budget" {
				return fmt.Sprintf("$%v %s", bank.Micros(n*Cent.Micros()), how)
			}
			return fmt.Sprintf("%d %s%s", n, unit, how)
		}})
	}
	budget, step := asked.Budget.Micros(), Cent.Micros()
	add("budget", float64(b.budget.Micros()-budget)/float64(step), func(t *Terms, n int64) { t.Budget = bank.Micros(budget + n*step) }, "", "more")
	add("budget", float64((budget-1)/step), func(t *Terms, n int64) { t.Budget = bank.Micros(budget - n*step) }, "", "less")
	add("deadline", max(asked.Deadline, 1)*mostTimes, func(t *Terms, n int64) { t.Deadline += float64(n) }, "s ", "later")
	add("deadline", math.Ceil(asked.Deadline)-1, func(t *Terms, n int64) { t.Deadline -= float64(n) }, "s ", "sooner")
	add("nodes", float64(b.nodes-asked.Nodes), func(t *Terms, n int64) { t.Nodes += int(n) }, "", "more")
	add("nodes", float64(asked.Nodes-1), func(t *Terms, n int64) { t.Nodes -= int(n) }, "", "fewer")
	add("submit", min(mostLater, b.later), func(t *Terms, n int64) { t.Later = float64(n) }, "s ", "later")
	for _, class := range b.classes {
		if class != asked.Class {
			add("class", 1, func(t *Terms, _ int64) { t.Class = class }, "", "")
			all[len(all)-1].By = func(int64) string { return "as " + class }
		}
	}
	return all
}
