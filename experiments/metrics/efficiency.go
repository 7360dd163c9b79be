package metrics

import (
	"fmt"
	"math"

	"bourse/contracts"
)

// Efficiency returns the sum of utilities over U*, at each inelasticity of alphas in
// [0,1] (§4.2, eq. 9). It is undefined, NaN, where no planner could fulfil any job.
//
// A penalty counts only as far as it gives back what the job's user has paid. More than that
// moves money from the provider to the user, and is no value that a planner could create.
func Efficiency(o *Outcome, alphas ...float64) (of []float64) {
	of = Utilities(o, alphas...)
	for k, alpha := range alphas {
		if best := BestAt(alpha, o.Optimum, max(o.Optimum, o.OptimumOfParts)); best > 0 {
			of[k] /= best
		} else {
			of[k] = math.NaN()
		}
	}
	return of
}

// Utilities returns the sum of utilities at each of alphas, as Efficiency counts them.
func Utilities(o *Outcome, alphas ...float64) []float64 {
	of := make([]float64, len(alphas))
	for i := range o.Jobs { // of which there may be more than a cache has
		j := &o.Jobs[i]
		for k, alpha := range alphas {
			of[k] += j.utility(alpha, max(0, j.revenue()))
		}
	}
	return of
}

// BestAt returns the bound on the sum of utilities at alpha by those at 1 and at 0: the
// maximum of a weighted sum (eq. 9) is at most the weighted sum of the maxima.
func BestAt(alpha, whole, parts float64) float64 {
	if whole == parts {
		return whole // without rounding
	}
	return alpha*whole + (1-alpha)*parts
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
		Doc:   "sum of utilities / U*, or / a bound on U* if deadlines leave room; users of this inelasticity (§4.2, eq. 9)",
		Of: func(o *Outcome) (float64, bool) {
			x := Efficiency(o, alpha)[0]
			return x, !math.IsNaN(x)
		},
	}
}

// meanEfficiencyAt is the efficiency as the paper prints it: the mean over jobs
// of the ratio of utilities. It looks only at jobs that U* fulfils, whose ratio
// is defined: of a bound, those of the best schedule known that completes each of its jobs.
func meanEfficiencyAt(name string, alpha float64) Metric {
	return Metric{
		Name: name,
		Unit: "1",
		Doc:  "mean of U(j)/U*(j) over the jobs that U*, or the best schedule known if U* is a bound, fulfils (§4.2 as printed)",
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
