package metrics

import (
	"fmt"

	"bourse/contracts"
)

// Efficiency returns the sum of utilities over U*, at each inelasticity of alphas in
// [0,1] (§4.2, eq. 9). It is undefined if no planner could fulfil any job.
//
// A penalty counts only as far as it gives back what the job's user has paid. More than that
// moves money from the provider to the user, and is no value that a planner could create.
func Efficiency(o *Outcome, alphas ...float64) (of []float64, ok bool) {
	of = make([]float64, len(alphas))
	if o.Optimum <= 0 {
		return of, false
	}
	for i := range o.Jobs { // of which there may be more than a cache has
		j := &o.Jobs[i]
		for k, alpha := range alphas {
			of[k] += j.utility(alpha, max(0, j.revenue()))
		}
	}
	for k := range of {
		of[k] /= o.Optimum
	}
	return of, true
}

// Utility is eq. 9, and 0 for a job that was rejected. What the provider pays
// back for a broken promise is the user's gain.
func (j *Job) Utility(alpha float64) float64 { return j.utility(alpha, j.revenue()) }

func (j *Job) utility(alpha, paid float64) float64 {
	if !j.Admitted() {
		return 0
	}
	return contracts.Mixed(alpha, j.Contract.ByDue, j.Work(), paid, j.worth())
}

func efficiencyAt(name string, alpha float64) Metric {
	return Metric{
		Name:  name,
		Label: fmt.Sprint("Efficiency, α = ", alpha),
		Unit:  "1",
		Doc:   "sum of utilities / U*, users of this inelasticity (§4.2, eq. 9)",
		Of: func(o *Outcome) (float64, bool) {
			x, ok := Efficiency(o, alpha)
			return x[0], ok
		},
	}
}

// meanEfficiencyAt is the efficiency as the paper prints it: the mean over jobs
// of the ratio of utilities. It looks only at jobs that U* fulfils, whose ratio
// is defined.
func meanEfficiencyAt(name string, alpha float64) Metric {
	return Metric{
		Name: name,
		Unit: "1",
		Doc:  "mean of U(j)/U*(j) over the jobs that U* fulfils (§4.2 as printed)",
		Of: func(o *Outcome) (float64, bool) {
			return mean(o, func(j *Job) (float64, bool) {
				if !j.Chosen || j.Value < 1e-6 { // less is no money
					return 0, false
				}
				if !j.Admitted() {
					return 0, true
				}
				return j.utility(alpha, max(0, j.revenue())) / j.worth(), true
			})
		},
	}
}
