package explain

import (
	"fmt"
	"math"

	"bourse/bank"
	"bourse/contracts"
)

// An Ask is what is asked for of what may change.
type Ask struct {
	Budget   bank.Amount
	Deadline float64 // s
	Nodes    int
	Class    string
	Later    float64 // s after it was submitted
}

// A Dimension is one of the terms, in steps.
type Dimension struct {
	Of   string
	Most int64
	At   func(steps int64) Ask
	By   func(steps int64) string
}

// These bound what is looked at.
const (
	MostTimes = 100       // so many times the budget, or the deadline
	mostLater = 24 * 3600 // s
)

// Cent is the step of budgets.
var Cent = bank.Micros(10000)

// Bounds say how far dimensions reach.
type Bounds struct {
	Budget  bank.Amount // the largest
	Nodes   int         // the most
	Later   float64     // s, at most
	Classes []string    // that there are
}

// Dimensions returns those of what was asked for. What is asked for later has as long until
// its deadline as before.
func Dimensions(asked Ask, b Bounds) (all []Dimension) {
	add := func(of string, most float64, change func(a *Ask, n int64), by func(n int64) string) {
		if !(most >= 1) {
			return
		}
		all = append(all, Dimension{of, int64(min(most, 1<<40)), func(n int64) Ask {
			a := asked
			change(&a, n)
			return a
		}, by})
	}
	budget, step := asked.Budget.Micros(), Cent.Micros()
	seconds := func(how string) func(int64) string {
		return func(n int64) string { return fmt.Sprintf("%d s %s", n, how) }
	}
	dollars := func(how string) func(int64) string {
		return func(n int64) string { return fmt.Sprintf("$%v %s", bank.Micros(n*step), how) }
	}
	nodes := func(how string) func(int64) string {
		return func(n int64) string { return fmt.Sprintf("%d %s", n, how) }
	}
	add("budget", float64(b.Budget.Micros()-budget)/float64(step), func(a *Ask, n int64) { a.Budget = bank.Micros(budget + n*step) }, dollars("more"))
	add("budget", float64((budget-1)/step), func(a *Ask, n int64) { a.Budget = bank.Micros(budget - n*step) }, dollars("less"))
	add("deadline", max(asked.Deadline, 1)*MostTimes, func(a *Ask, n int64) { a.Deadline += float64(n) }, seconds("later"))
	add("deadline", math.Ceil(asked.Deadline)-1, func(a *Ask, n int64) { a.Deadline -= float64(n) }, seconds("sooner"))
	add("nodes", float64(b.Nodes-asked.Nodes), func(a *Ask, n int64) { a.Nodes += int(n) }, nodes("more"))
	add("nodes", float64(asked.Nodes-1), func(a *Ask, n int64) { a.Nodes -= int(n) }, nodes("less"))
	add("submit", min(mostLater, b.Later), func(a *Ask, n int64) { a.Later = float64(n) }, seconds("later"))
	for _, class := range b.Classes {
		if class != asked.Class {
			add("class", 1, func(a *Ask, _ int64) { a.Class = class }, func(int64) string { return "as " + class })
		}
	}
	return all
}

// Wanted is the verdict that is looked for where it was another.
func Wanted(was contracts.Verdict) contracts.Verdict {
	if was == contracts.Accept {
		return contracts.Reject
	}
	return contracts.Accept
}

// Search looks for the least change in d with which the job is decided as wanted. Of what
// decide returns, a refusal has its reason. It returns a Change, but for its terms and what
// would have come of it, with its steps, or where none was found.
func (d *Dimension) Search(want contracts.Verdict, decide func(Ask) (contracts.Verdict, contracts.Reason, error)) (steps int64, c *Change, v *Vain, err error) {
	found, err := Least(d.Most, func(n int64) (bool, error) {
		verdict, _, err := decide(d.At(n))
		return verdict == want, err
	})
	if err != nil {
		return 0, nil, nil, err
	}
	if found.Steps == 0 {
		return 0, nil, &Vain{Of: d.Of, Until: d.By(found.Most), Tried: found.Tried}, nil
	}
	c = &Change{Of: d.Of, By: d.By(found.Steps), Tried: found.Tried, Monotone: found.Monotone}
	if want != contracts.Accept {
		_, reason, wrong := decide(d.At(found.Steps))
		c.Reason, err = string(reason), wrong
	}
	return found.Steps, c, nil, err
}
