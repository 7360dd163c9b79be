// Package annotate turns a recorded or generated plan into the one that an
// experiment asks for: how fast jobs arrive, how wrong their estimates are, how
// wide they are on the hosts at hand, how urgent, and what they are worth.
//
// Each function changes a plan in place and one thing about it; [Options]
// applies them in a fixed order. Papers: Yeo and Buyya, "Managing Risk of
// Inaccurate Runtime Estimates" (ICPP 2006) and "Service Level Agreement based
// Allocation of Cluster Resources" (Cluster 2005), below Risk and SLA. The
// package does not know hosts, only how many they are.
package annotate

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"bourse/workloadgen"
	"bourse/workloadgen/dist"
	"bourse/workloadgen/plugin"
	"bourse/workloadgen/value"
)

// Options are what an experiment asks of a plan; the zero value changes
// nothing but the origin, which becomes the first arrival. They are applied in
// the order of the fields.
type Options struct {
	Sizes        Sizes         `yaml:"sizes" doc:"how sizes are mapped onto the hosts"`
	Delay        *float64      `yaml:"delay" validate:"min=0,max=1e6" doc:"factor on the spans between arrivals; omitted, 1"`
	Restore      float64       `yaml:"restore" validate:"min=0,max=1e9" doc:"seconds added to the runtime of jobs that ran exactly as long as requested"`
	Arrivals     string        `yaml:"arrivals" validate:"omitempty,oneof=poisson" doc:"poisson: spans between arrivals drawn anew, exponential; omitted, as they are"`
	Load         *Load         `yaml:"load" doc:"load that arrivals are drawn together or apart to make"`
	Inaccuracy   *float64      `yaml:"inaccuracy" validate:"min=0,max=1" doc:"of the estimates: 0 makes them true, 1 leaves them; omitted, 1"`
	Reservations *Reservations `yaml:"reservations" doc:"advance reservations and on-demand requests: start windows, deadlines, estimates"`
	Value        *plugin.Spec  `yaml:"value" doc:"value model that worth is drawn from; omitted, worth stays"`
	Budget       float64       `yaml:"budget" validate:"min=0,max=1e8" doc:"dollars that each user splits among its jobs; 0 leaves values"`
	Price        float64       `yaml:"price" validate:"min=0,max=1e6" doc:"dollars per unit of worth and processor-second; 0 leaves values"`
	Urgency      *Urgency      `yaml:"urgency" doc:"deadlines, and budgets and penalties, by urgency class"`
}

// Validate reports the first option that is out of range, or that goes with no other.
func (o *Options) Validate() error {
	if err := plugin.Check(o); err != nil {
		return err
	}
	if err := o.Sizes.check(); err != nil {
		return err
	}
	switch {
	case o.Load != nil && o.Load.Processors == 0:
		return errors.New("load.processors: found 0, want those of the machine")
	case o.Load != nil && o.Delay != nil:
		return errors.New("load: found a delay beside it, want one of them")
	case o.Budget > 0 && o.Price > 0:
		return fmt.Errorf("budget %v and price %v: want one of them", o.Budget, o.Price)
	case o.Urgency != nil && o.Urgency.SLA && (o.Budget > 0 || o.Price > 0):
		return errors.New("urgency.sla gives each job its budget: want neither budget nor price")
	}
	if o.Value != nil {
		if _, err := value.Table().Make(*o.Value); err != nil {
			return err
		}
	}
	return nil
}

// Apply applies the options. It returns the plan, shorter where jobs are too
// wide, and how many jobs each mapping of sizes touched. What is drawn is drawn
// with src: arrivals first, one uniform a job, then reservations, worth, one uniform
// a job, and urgency, four a job; no option's value changes what another draws.
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
		worth, err := value.Table().Make(*o.Value)
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

// Delay makes the first arrival 0 and multiplies the span from it to every
// other by factor (Risk §4): 0.1 makes 600 s between two jobs 60 s, 0 makes all
// arrive at once, in order.
func Delay(plan workloadgen.Plan, factor float64) {
	if len(plan) == 0 {
		return
	}
	first := plan[0].Arrival
	for i := range plan {
		plan[i].Arrival = factor * (plan[i].Arrival - first)
	}
}

// A Load is how busy a machine is to be: the work of all jobs over its
// processors times the span of arrivals.
type Load struct {
	Target     float64 `yaml:"target" validate:"gt=0,max=1e6" doc:"load; above 1 the machine cannot keep up"`
	Processors int     `yaml:"processors" validate:"min=0" doc:"of the machine; omitted in a scenario's workload.annotate, those of its fleet"`
}

// Scale multiplies every span between arrivals by the one factor that makes the
// plan's load the target; days are squeezed with them. A plan without work or
// span stays as it is.
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

// restore lengthens the true runtime of every job that ran for exactly as long
// as was asked for: such a log has cut off overruns. The estimate stays.
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

// estimates draws every estimate towards the true runtime: inaccuracy 0 makes
// it the runtime, 1 leaves it as it is.
func estimates(plan workloadgen.Plan, inaccuracy float64) {
	for i := range plan {
		plan[i].Estimate = estimate(plan[i].Runtime, plan[i].Estimate, inaccuracy)
	}
}

// estimate returns runtime + inaccuracy (recorded - runtime), in seconds;
// recorded is taken to be the runtime where it is not known, 0 or less.
func estimate(runtime, recorded, inaccuracy float64) float64 {
	if recorded <= 0 {
		return runtime
	}
	return runtime + inaccuracy*(recorded-runtime)
}
