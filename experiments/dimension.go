package experiments

import (
	"fmt"
	"math"

	"bourse/bank"
	"bourse/contracts/admission"
)

// A dimension is one of the terms, in steps.
type dimension struct {
	of   string
	most int64
	at   func(steps int64) terms
	by   func(steps int64) string
}

// These bound what is looked at.
const (
	mostTimes = 100       // so many times the budget, or the deadline
	mostLater = 24 * 3600 // s
)

// cent is the step of budgets.
var cent = bank.Micros(10000)

// dimensions returns those of what was asked for, those of a later submission until an
// instant. A job that is asked for later has as long until its deadline as before.
func (f *moment) dimensions(asked terms, until float64) (all []dimension) {
	add := func(of string, most float64, change func(t *terms, n int64), by func(n int64) string) {
		if !(most >= 1) {
			return
		}
		all = append(all, dimension{of, int64(min(most, 1<<40)), func(n int64) terms {
			t := asked
			change(&t, n)
			return t
		}, by})
	}
	budget := asked.budget.Micros()
	seconds := func(how string) func(int64) string {
		return func(n int64) string { return fmt.Sprintf("%d s %s", n, how) }
	}
	dollars := func(how string) func(int64) string {
		return func(n int64) string { return fmt.Sprintf("$%v %s", bank.Micros(n*cent.Micros()), how) }
	}
	step := cent.Micros()
	add("budget", float64(f.richest()-budget)/float64(step), func(t *terms, n int64) { t.budget = bank.Micros(budget + n*step) }, dollars("more"))
	add("budget", float64((budget-1)/step), func(t *terms, n int64) { t.budget = bank.Micros(budget - n*step) }, dollars("less"))
	add("deadline", max(asked.deadline, 1)*mostTimes, func(t *terms, n int64) { t.deadline += float64(n) }, seconds("later"))
	add("deadline", math.Ceil(asked.deadline)-1, func(t *terms, n int64) { t.deadline -= float64(n) }, seconds("sooner"))
	hosts := f.setting.conf.Fleet.Hosts
	if admission.Books(f.offer.Name) {
		hosts *= int(f.setting.conf.Fleet.CPUs) // a host is a cluster
	}
	nodes := func(how string) func(int64) string {
		return func(n int64) string { return fmt.Sprintf("%d %s", n, how) }
	}
	add("nodes", float64(hosts-asked.nodes), func(t *terms, n int64) { t.nodes += int(n) }, nodes("more"))
	add("nodes", float64(asked.nodes-1), func(t *terms, n int64) { t.nodes -= int(n) }, nodes("less"))
	add("submit", min(mostLater, until-f.now), func(t *terms, n int64) { t.later = float64(n) }, seconds("later"))
	for _, class := range admission.Classes(f.offer.Name) {
		if class != asked.class {
			add("class", 1, func(t *terms, _ int64) { t.class = class }, func(int64) string { return "as " + class })
		}
	}
	return all
}

// richest returns the largest budget that is looked at: what the owner has, where users
// have so much and no more.
func (f *moment) richest() int64 {
	bill := f.arena.bills[f.n]
	most := max(bill.budget.Micros(), 100*cent.Micros()) * mostTimes
	if f.poor || f.setting.conf.Workload.Funds != nil {
		most = min(most, f.ledger.Balance(f.arena.payers[bill.payer].account).Micros())
	}
	return most
}
