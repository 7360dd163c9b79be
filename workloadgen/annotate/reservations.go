package annotate

import (
	"fmt"
	"math"
	"math/rand/v2"

	"bourse/workloadgen"
	"bourse/workloadgen/dist"
)

// Reservations turns every job into an advance reservation or an on-demand request, as in
// Farooq, Majumdar and Parsons (2006, §4). The authors specify the share of each kind but not
// the distributions. Arrivals, runtimes, estimates and windows become whole seconds.
type Reservations struct {
	Share      float64 `yaml:"share" validate:"min=0,max=1" doc:"probability that a job is an advance reservation"`
	Lead       Spread  `yaml:"lead" doc:"seconds from arrival to the earliest start of a reservation"`
	Laxity     Spread  `yaml:"laxity" doc:"laxity of a reservation (deadline - estimate - earliest start) as a multiple of the estimate"`
	Inaccuracy float64 `yaml:"inaccuracy" validate:"min=0,max=1000" doc:"f: estimates are wrong by a factor of up to 1+2f, on average about 1+f; 0 makes them exact unless errors is log"`
	Errors     string  `yaml:"errors" validate:"oneof=over under both log" doc:"over (estimates too long), under, both, or log (estimates of the log, rounded up)"`
	Cancel     float64 `yaml:"cancel" validate:"min=0,max=1" doc:"probability that a reservation is cancelled, at a uniform time (whole seconds) between request and deadline"`
	Parts      Parts   `yaml:"parts" doc:"co-reservations: nodes in several gangs, each on its own cluster, all starting together"`
}

// Parts selects the reservations that consist of several parts.
type Parts struct {
	Share float64 `yaml:"share" validate:"min=0,max=1" doc:"probability that a reservation has several parts"`
	Count int     `yaml:"count" validate:"min=2,max=1048576" doc:"number of parts, at most the number of nodes"`
}

// A Spread is a distribution with a mean.
type Spread struct {
	Law  string  `yaml:"law" validate:"oneof=uniform exp fixed" doc:"uniform (from 0 to twice the mean), exp or fixed"`
	Mean float64 `yaml:"mean" validate:"min=0,max=1e9" doc:"mean"`
}

// defaultReservations returns only reservations, up to two hours ahead, with an average laxity
// equal to their estimate, and true estimates.
func defaultReservations() Reservations {
	return Reservations{
		Share: 1, Lead: Spread{"uniform", 3600}, Laxity: Spread{"uniform", 1}, Errors: "over", Parts: Parts{Count: 2},
	}
}

// SetDefaults sets the values of fields that the file omits.
func (r *Reservations) SetDefaults() { *r = defaultReservations() }

// annotate sets Lead, Deadline, OnDemand, Estimate, Cancel and Parts of every job, and rounds
// Arrival and Runtime. Kind, lead, laxity, inaccuracy, cancellation, time of cancellation, and
// parts have separate streams derived from src, with one uniform per job each, used or not. A
// change to one factor therefore does not change the others. If the share of reservations,
// cancellations or reservations with parts increases, the jobs that were selected before stay
// selected.
func (r *Reservations) annotate(plan workloadgen.Plan, src rand.Source) error {
	var seed [2]uint64
	stream := func() rand.Source {
		seed = [2]uint64{src.Uint64(), src.Uint64()}
		return rand.NewPCG(seed[0], seed[1])
	}
	kinds, leads, laxities, errors, cancels, whens := stream(), stream(), stream(), stream(), stream(), stream()
	parts := rand.NewPCG(^seed[0], seed[1]) // draws nothing from src, so later annotations do not change
	for i := range plan {
		j := &plan[i]
		kind, lead, laxity := dist.Open(kinds), r.Lead.draw(dist.Open(leads)), r.Laxity.draw(dist.Open(laxities))
		cancel, when, apart := dist.Open(cancels), dist.Open(whens), dist.Open(parts)
		j.Cancel, j.Parts = 0, 0
		j.Arrival = math.Floor(j.Arrival)
		j.Runtime = max(1, math.Ceil(j.Runtime))
		j.Estimate = r.estimate(j, dist.Open(errors))
		if j.OnDemand = kind >= r.Share; j.OnDemand {
			j.Lead, j.Deadline = 0, j.Estimate
			continue
		}
		j.Lead = math.Floor(lead)
		j.Deadline = j.Lead + j.Estimate + math.Floor(j.Estimate*laxity)
		if cancel < r.Cancel {
			j.Cancel = math.Ceil(when * j.Deadline)
		}
		if apart < r.Parts.Share {
			j.Parts = min(r.Parts.Count, j.Nodes)
		}
		if max(j.Estimate, j.Deadline) > workloadgen.MaxSeconds {
			return fmt.Errorf("job %d: estimate %v s and deadline %v s exceed a plan's limits", j.ID, j.Estimate, j.Deadline)
		}
	}
	return nil
}

// estimate returns the runtime with the error given by the uniform u.
func (r *Reservations) estimate(j *workloadgen.Job, u float64) float64 {
	most, estimate := 1+2*r.Inaccuracy, 0.0
	switch r.Errors {
	case "over":
		estimate = j.Runtime * (1 + 2*r.Inaccuracy*u)
	case "under":
		estimate = j.Runtime / (1 + 2*r.Inaccuracy*u)
	case "both":
		estimate = j.Runtime * math.Pow(most, 2*u-1)
	case "log":
		estimate = j.Estimate
	}
	return max(1, math.Ceil(estimate))
}

// draw returns the quantile of the uniform u.
func (s Spread) draw(u float64) float64 {
	switch s.Law {
	case "exp":
		return -s.Mean * math.Log(u)
	case "fixed":
		return s.Mean
	}
	return 2 * s.Mean * u
}

// poisson draws the times between arrivals from an exponential distribution with their current
// mean. This removes cycles and bursts.
func poisson(plan workloadgen.Plan, src rand.Source) {
	if len(plan) < 2 {
		return
	}
	at := plan[0].Arrival
	mean := (plan[len(plan)-1].Arrival - at) / float64(len(plan)-1)
	for i := 1; i < len(plan); i++ {
		at -= mean * math.Log(dist.Open(src))
		plan[i].Arrival = at
	}
}
