package metrics

import (
	"fmt"
	"math"

	"bourse/contracts"
)

// Efficiency returns the sum of utilities divided by U*, for each inelasticity in alphas, each
// in [0,1] (§4.2, eq. 9). It is NaN (undefined) if a planner could not fulfil any job.
//
// A penalty counts only up to the amount that the job's user has paid. Any excess is a transfer
// from the provider to the user, not value that a planner could create.
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

// Utilities returns the sum of utilities for each inelasticity in alphas, counted as in
// Efficiency.
func Utilities(o *Outcome, alphas ...float64) []float64 {
	of := make([]float64, len(alphas))
	for i := range o.Jobs { // scan the jobs only once, because they may not fit into the cache
		j := &o.Jobs[i]
		for k, alpha := range alphas {
			of[k] += j.utility(alpha, max(0, j.revenue()))
		}
	}
	return of
}

// BestAt returns an upper bound on the sum of utilities at alpha, computed from the bounds
// at 1 and at 0. The maximum of a weighted sum (eq. 9) is at most the weighted sum of the
// maxima.
func BestAt(alpha, whole, parts float64) float64 {
	if whole == parts {
		return whole // exact result, without rounding
	}
	return alpha*whole + (1-alpha)*parts
}

// Utility returns the utility of a job by eq. 9, or 0 if the job was rejected. A penalty
// that the provider pays is a gain for the user.
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
		Doc:   "sum of utilities / U* (or an upper bound on U* if deadlines leave slack), for users of the inelasticity in the name of the metric (§4.2, eq. 9)",
		Of: func(o *Outcome) (float64, bool) {
			x := Efficiency(o, alpha)[0]
			return x, !math.IsNaN(x)
		},
	}
}

// meanEfficiencyAt is the efficiency as the paper defines it: the mean ratio of utilities over
// jobs. It includes only the jobs that the planner of U* fulfils, because the ratio is defined
// only for these jobs. If U* is a bound, it includes the jobs that the best known schedule
// completes.
func meanEfficiencyAt(name string, alpha float64) Metric {
	return Metric{
		Name: name,
		Unit: "1",
		Doc:  "mean of U(j)/U*(j) over the jobs that U* fulfils, as printed in §4.2; if U* is a bound, over the jobs that the best known schedule fulfils",
		Of: func(o *Outcome) (float64, bool) {
			return mean(o, func(j *Job) (float64, bool) {
				if !j.Chosen || j.Value < 1e-6 { // smaller values cannot be represented as money
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

// jobEfficiencyAt is the sum over all jobs of the obtained fraction of each job's value,
// divided by the number of jobs that the planner of U* fulfils. A rejected job obtains 0.
func jobEfficiencyAt(name string, alpha float64) Metric {
	return Metric{
		Name: name,
		Unit: "1",
		Doc:  "sum of U(j)/v(j) over all jobs / number of jobs that U* (or the best known schedule, if U* is a bound) fulfils; computed only if a figure or search names the metric",
		Of: func(o *Outcome) (float64, bool) {
			sum, planned := 0.0, 0
			for i := range o.Jobs {
				j := &o.Jobs[i]
				if j.Chosen {
					planned++
				}
				if j.Admitted() && j.Value >= 1e-6 { // smaller values cannot be represented as money
					sum += j.utility(alpha, max(0, j.revenue())) / j.worth()
				}
			}
			return sum / float64(planned), planned > 0
		},
	}
}
