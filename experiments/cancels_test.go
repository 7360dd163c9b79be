package experiments

import (
	"math"
	"testing"

	"bourse/contracts"
	"bourse/experiments/metrics"
)

// TestCancels checks that owners cancel reservations at the planned second, except reservations
// that were rejected or have ended. Before the start, they pay the fee, 10 % of the price.
// After that, they pay for the elapsed part of the estimate if this is more than the fee. No
// promise is broken.
func TestCancels(t *testing.T) {
	t.Parallel()
	e := reserved(t, "e1", "base.workload.annotate.reservations.cancel=0.4", "base.market.payment=budget")
	x := e.Expanded()
	all, err := settings(&x, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := newWorkspace()
	early, late := 0, 0
	run(t, e, 2, func(r *Replication) {
		if err := a.draw(all[r.Configuration], e.Seed, r.Rep); err != nil {
			t.Fatal(err)
		}
		for k, run := range r.Runs {
			if n, _ := metrics.Violations.Of(&run.Outcome); n != 0 {
				t.Errorf("%v of the contracts violated", n)
			}
			for i := range run.Jobs {
				j, plan := &run.Jobs[i], &a.plan[i]
				c := &j.Contract
				due := plan.Cancel > 0 && j.Admitted()
				if c.Outcome != contracts.Cancelled {
					if due && c.Ended > j.Arrival+plan.Cancel {
						t.Fatalf("job %d, to be taken back at %v, ended at %v", j.ID, j.Arrival+plan.Cancel, c.Ended)
					}
					continue
				}
				owes := 0.1
				if early++; !math.IsInf(c.Began, 1) {
					early, late = early-1, late+1
					owes = max(owes, (c.Ended-c.Began)/plan.Estimate)
				}
				if want := owes * c.Budget.Float64(); !due || c.Ended != j.Arrival+plan.Cancel || j.Fulfilled() || math.Abs(c.Paid.Float64()-want) > 2e-6 {
					t.Fatalf("policy %d, job %d: taken back at %v for $%v, want at %v for $%v", k, j.ID, c.Ended, c.Paid.Float64(), j.Arrival+plan.Cancel, want)
				}
			}
		}
	})
	if early == 0 || late == 0 {
		t.Errorf("%d taken back before the start, %d after: nothing was checked", early, late)
	}
}
