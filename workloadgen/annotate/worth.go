package annotate

import (
	"fmt"

	"bourse/bank/exact"
	"bourse/workloadgen"
)

// charge sets the value of every job to price dollars per unit of worth and processor-second:
// the exact product, rounded toward zero to micro-dollars. A value above
// [workloadgen.MaxDollars] is an error.
func charge(plan workloadgen.Plan, price float64) error {
	for i := range plan {
		j := &plan[i]
		w := j.Weights()
		v, ok := dollars(price, w[0], w[1], w[2])
		if !ok {
			return fmt.Errorf("job %d: value %v is more than %v dollars", j.ID, exact.Product(price, w[0], w[1], w[2]), float64(workloadgen.MaxDollars))
		}
		j.Value = v
	}
	return nil
}

// dollars returns the exact product of factors, rounded toward zero to micro-dollars, or false
// if it exceeds the limit of a job's value.
func dollars(factors ...float64) (float64, bool) {
	n, ok := exact.Trunc(6, factors, nil)
	v := float64(n) / 1e6
	return v, ok && v <= workloadgen.MaxDollars
}
