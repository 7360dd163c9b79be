// Package annotate adapts a recorded or generated plan to an experiment: the arrival rate, the
// errors of estimates, the sizes on the available hosts, the urgency, and the value of jobs.
//
// Each function changes one aspect of a plan in place; [Options] applies them in a fixed
// order. Papers: Yeo and Buyya, "Managing Risk of Inaccurate Runtime Estimates" (ICPP 2006),
// called Risk below, and "Service Level Agreement based Allocation of Cluster Resources"
// (Cluster 2005), called SLA. The package is independent of hosts, except for their number.
package annotate

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"bourse/workloadgen"
	"bourse/workloadgen/config"
	"bourse/workloadgen/dist"
	"bourse/workloadgen/value"
)

// Options are the changes that an experiment makes to a plan, applied in the order of the
// fields. The zero value only moves the first arrival to 0.
type Options struct {
	Sizes        Sizes         `yaml:"sizes" doc:"how job sizes are mapped onto the hosts"`
	Delay        *float64      `yaml:"delay" validate:"min=0,max=1e6" doc:"factor on the times between arrivals; default 1"`
	Restore      float64       `yaml:"restore" validate:"min=0,max=1e9" doc:"seconds added to the runtime of jobs that ran exactly as long as requested"`
	Arrivals     string        `yaml:"arrivals" validate:"omitempty,oneof=poisson" doc:"poisson draws exponential times between arrivals; if omitted, arrivals are unchanged"`
	Load         *Load         `yaml:"load" doc:"target load, reached by scaling the times between arrivals"`
	Inaccuracy   *float64      `yaml:"inaccuracy" validate:"min=0,max=1" doc:"how inaccurate estimates are: 0 makes them exact, 1 leaves them unchanged; default 1"`
	Reservations *Reservations `yaml:"reservations" doc:"advance reservations and on-demand requests: start windows, deadlines, estimates"`
	Value        *config.Spec  `yaml:"value" doc:"value model for drawing worth; if omitted, worth is unchanged"`
	Budget       float64       `yaml:"budget" validate:"min=0,max=1e8" doc:"dollars that each user splits among its jobs; 0 leaves values unchanged"`
	Price        float64       `yaml:"price" validate:"min=0,max=1e6" doc:"dollars per unit of worth and processor-second; 0 leaves values unchanged"`
	Urgency      *Urgency      `yaml:"urgency" doc:"deadlines, and budgets and penalties, by urgency class"`
}

// Validate returns an error for the first option that is out of range or inconsistent with
// another.
func (o *Options) Validate() error {
	if err := config.Check(o); err != nil {
		return err
	}
	if err := o.Sizes.check(); err != nil {
		return err
	}
	switch {
	case o.Load != nil && o.Load.Processors == 0:
		return errors.New("load.processors: found 0, want the processors of the machine")
	case o.Load != nil && o.Delay != nil:
		return errors.New("load: found delay too, want only one of them")
	case o.Budget > 0 && o.Price > 0:
		return fmt.Errorf("budget %v and price %v: want only one of them", o.Budget, o.Price)
	case o.Urgency != nil && o.Urgency.SLA && (o.Budget > 0 || o.Price > 0):
		return errors.New("urgency.sla gives each job its budget: want neither budget nor price")
	}
	if o.Value != nil {
		if _, err := value.Table().New(o.Value.Name, o.Value.Decode); err != nil {
			return err
		}
	}
	return nil
}

// Apply applies the options. It returns the plan, without jobs that are too wide, and the
// effect of mapping sizes. Random draws use src in this order: arrivals (one uniform per job),
// reservations, worth (one uniform per job) and urgency (four per job). The value of an option
// does not change the draws of other options.
func (o *Options) Apply(plan workloadgen.Plan, src rand.Source) (workloadgen.Plan, SizeNote, error) {
	plan, note := o.Sizes.Map(plan)
	delay := 1.0
	if o.Delay != nil {
		delay = *o.Delay
	}
	Delay(plan, delay)
	restore(plan, o.Restore)
	if o.Arrivals == "poisson" {
		poisson(plan, src)
	}
	if o.Load != nil {
		o.Load.Scale(plan)
	}
	if o.Inaccuracy != nil {
		estimates(plan, *o.Inaccuracy)
	}
	if o.Reservations != nil {
		if err := o.Reservations.annotate(plan, src); err != nil {
			return nil, note, err
		}
	}
	if o.Value != nil {
		worth, err := value.Table().New(o.Value.Name, o.Value.Decode)
		if err != nil {
			return nil, note, err
		}
		for i := range plan {
			plan[i].Worth = math.Min(worth.Quantile(dist.Open(src)), workloadgen.MaxWorth)
		}
	}
	if o.Budget > 0 {
		plan.Split(o.Budget, (*workloadgen.Job).Weights)
	}
	if o.Price > 0 {
		if err := charge(plan, o.Price); err != nil {
			return nil, note, err
		}
	}
	if o.Urgency != nil {
		if err := o.Urgency.annotate(plan, src); err != nil {
			return nil, note, err
		}
	}
	return plan, note, nil
}

// Delay moves the first arrival to 0 and multiplies the time from the first arrival to every
// other arrival by factor (Risk §4). For example, a factor of 0.1 turns 600 s between two jobs
// into 60 s. A factor of 0 makes all jobs arrive at the same time, in order.
func Delay(plan workloadgen.Plan, factor float64) {
	if len(plan) == 0 {
		return
	}
	first := plan[0].Arrival
	for i := range plan {
		plan[i].Arrival = factor * (plan[i].Arrival - first)
	}
}

// A Load is the target utilization of a machine: the work of all jobs, divided by the number of
// processors and by the span of arrivals.
type Load struct {
	Target     float64 `yaml:"target" validate:"gt=0,max=1e6" doc:"load; above 1, the machine is overloaded"`
	Processors int     `yaml:"processors" validate:"min=0" doc:"processors of the machine; in a scenario's workload.annotate, the default is its fleet's"`
}

// Scale multiplies the times between arrivals by the factor that makes the plan's load equal
// to the target; days are scaled as well. It does not change a plan without work or span.
func (l *Load) Scale(plan workloadgen.Plan) {
	if len(plan) < 2 {
		return
	}
	work := 0.0
	for i := range plan {
		work += plan[i].Work()
	}
	span := plan[len(plan)-1].Arrival - plan[0].Arrival
	if factor := work / (l.Target * float64(l.Processors) * span); span > 0 && !math.IsInf(factor, 0) {
		Delay(plan, factor)
	}
}

// restore adds seconds to the true runtime of every job that ran exactly as long as requested,
// because the machine stopped such jobs at their estimates. The estimate does not change.
func restore(plan workloadgen.Plan, seconds float64) {
	for i := range plan {
		if j := &plan[i]; j.Runtime == j.Estimate {
			if j.Deadline == j.Runtime {
				j.Deadline += seconds
			}
			j.Runtime += seconds
		}
	}
}

// estimates moves every estimate towards the true runtime: with inaccuracy 0, the estimate
// becomes equal to the runtime; with 1, it does not change.
func estimates(plan workloadgen.Plan, inaccuracy float64) {
	for i := range plan {
		plan[i].Estimate = estimate(plan[i].Runtime, plan[i].Estimate, inaccuracy)
	}
}

// estimate returns runtime + inaccuracy (recorded - runtime), in seconds. If recorded is
// unknown (0 or less), it returns runtime.
func estimate(runtime, recorded, inaccuracy float64) float64 {
	if recorded <= 0 {
		return runtime
	}
	return runtime + inaccuracy*(recorded-runtime)
}
