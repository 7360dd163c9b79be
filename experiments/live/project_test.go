package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/owners/ownerstest"
	"bourse/contracts"
	"bourse/contracts/order"
)

// TestProjects checks that a project pays, to the micro-dollar and up to its limit, for the
// contracts of the users to whom it gave the right, even if the market is killed between any
// two steps. The quotas of the project and of the user both apply, and refunds go to the
// project. A replay of the log must give the same decisions, and an audit of the ledger must
// have no findings.
func TestProjects(t *testing.T) {
	t.Parallel()
	w := newTown(t, "name: lab\nquotas: [{who: 'project:*', cpus: 2}, {who: 'user:*', cpus: 3}]\nfloor_per_hour: {cpu: 0.9}", 4)
	must(w.bank.Do(t.Context(), ownerstest.Transfer("fund", "user:2", "project:film", 500_000)))
	for user, most := range map[string]string{"user:0": "0.100000", "user:1": "0.300000"} {
		must(w.bank.Do(t.Context(), ownerstest.Says("operator", "right", "s-"+user, "operator", "of", "project:film", "right", "spend", "for", user, "most", most, "refunds", "credited")))
	}
	for _, a := range w.agents {
		a.Exits = func(int64) float64 { return 20 }
	}
	n := 0
	submit := func(account, project string, cpus float64, budget int64) *Answer {
		n++
		s := w.sign(fmt.Sprint("o", n), account, 9000, &order.Terms{Class: "be", Nodes: 1, CPUs: cpus, Work: 10, Deadline: 100, Budget: bank.Micros(budget), Project: project}, jobText)
		a := w.turn(message{Submit: &s})[0].answer
		if n%2 == 0 {
			w.crash()
		}
		return a
	}
	check := func(a *Answer, verdict, reason, why string) {
		t.Helper()
		if a.Verdict != verdict || a.Reason != reason || !strings.Contains(a.Why, why) {
			t.Errorf("%d: %s, %s, %s, want %s, %s, %s", Short(a.Contract), a.Verdict, a.Reason, a.Why, verdict, reason, why)
		}
	}
	check(submit("user:2", "film", 1, 30_000), "reject", string(contracts.NotAllowed), "user:2 has no right to spend from project:film")
	check(submit("user:0", "film", 1, 60_000), "accept", "", "")
	check(submit("user:0", "film", 1, 40_001), "reject", string(contracts.NotAllowed), "want at most 0.040000, the rest of 0.100000")
	check(submit("user:0", "film", 1, 40_000), "accept", "", "")
	check(submit("user:1", "film", 1, 50_000), "held", "quota", "")    // held by the quota of the project
	check(submit("user:1", "", 1, 50_000), "held", "quota", "")        // held behind the first order
	check(submit("user:1", "film", 2.5, 50_000), "reject", beyond, "") // the order exceeds the quota by itself
	check(submit("user:0", "", 1, 50_000), "accept", "", "")           // the user's own money
	if got := w.turn(message{Bid: w.bid("more", "user:0", ownerstest.Contract(2), 0.07)})[0]; got.answer.Reason != string(contracts.FixedPrice) {
		t.Errorf("a budget paid by a project: %+v, %v", got.answer, got.err)
	}
	w.pass(120)
	paid := bank.Amount{}
	var film []int64
	for _, k := range must(w.market.List(Filter{Account: "project:film", Ended: true})) {
		if film = append(film, Short(k.ID)); k.Settlement != "" {
			paid = must(paid.Add(k.Paid))
		}
		if k.Project != "film" {
			t.Errorf("%d: project %q", Short(k.ID), k.Project)
		}
	}
	if has, want := must(w.bank.Balance(t.Context(), "project:film")), must(bank.Micros(500_000).Sub(paid)); !slices.Equal(film, []int64{1, 2, 3, 4, 5, 7}) || has != want || paid.Sign() == 0 {
		t.Errorf("%v of the project, which has %v, want %v", film, has, want)
	}
	for id := int64(5); id <= 6; id++ {
		if k := must(w.market.Status(id)); k.State != "fulfilled" {
			t.Errorf("%d: %s, %s", id, k.State, k.Held)
		}
	}
	rest := bank.Micros(100_000) // refunds can be spent again
	for _, id := range []int64{2, 4} {
		rest = must(rest.Sub(must(w.market.Status(ownerstest.Contract(id))).Paid))
	}
	check(submit("user:0", "film", 1, rest.Micros()+1), "reject", string(contracts.NotAllowed), "want at most "+rest.String())
	check(submit("user:0", "film", 1, rest.Micros()), "accept", "", "")
	check(submit("user:1", "film", 1, 250_000), "accept", "", "")
	w.check(5)
}
