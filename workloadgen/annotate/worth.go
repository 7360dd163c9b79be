package annotate

import (
	"fmt"
	"math"

	"bourse/workloadgen"
)

// split divides a budget of dollars for each user over the user's jobs, in
// proportion to worth x runtime x nodes, rounded down to micro-dollars, so that
// what a user offers never exceeds its budget.
func split(plan workloadgen.Plan, budget float64) {
	sums := make(map[int64]float64)
	for i := range plan {
		sums[plan[i].User] += plan[i].Worth * plan[i].Work()
	}
	for i := range plan {
		j := &plan[i]
		if sum := sums[j.User]; sum > 0 {
			j.Value = math.Floor(budget*1e6*(j.Worth*j.Work()/sum)) / 1e6
		}
	}
}

// charge makes every job worth price dollars for each unit of worth and
// processor-second, rounded down to micro-dollars. A job that then exceeds
// [workloadgen.MaxDollars] is an error.
func charge(plan workloadgen.Plan, price float64) error {
	for i := range plan {
		j := &plan[i]
		v := price * j.Worth * j.Work()
		if !(v <= workloadgen.MaxDollars) {
			return fmt.Errorf("job %d: value %v is more than %v dollars", j.ID, v, float64(workloadgen.MaxDollars))
		}
		j.Value = math.Floor(v*1e6) / 1e6
	}
	return nil
}
