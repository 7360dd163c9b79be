package catalog

import (
	"slices"

	"bourse/contracts/admission"
	"bourse/contracts/policies"
	"bourse/experiments/scenario"
)

// An idle describes a setting that another setting makes ineffective.
type idle struct {
	field, because string
	set            func(c *scenario.Configuration) bool // function that reports whether the field differs from its default
	without        func(c *scenario.Configuration) bool // function that reports whether the field has no effect
}

// none returns a function that reports whether no policy of a configuration has the property
// is. It assumes that a policy that is not in the table may have the property.
func none(is func(*admission.Properties) bool) func(c *scenario.Configuration) bool {
	return func(c *scenario.Configuration) bool {
		return !slices.ContainsFunc(c.Admission, func(a scenario.Choice) bool {
			p := policies.Of(a.Name)
			return p.New == nil || is(&p.Properties)
		})
	}
}

var idles = []idle{
	{
		"fleet.cpus", "fleet.sizes overrides it",
		func(c *scenario.Configuration) bool { return c.Fleet.CPUs != scenario.Default().Fleet.CPUs },
		func(c *scenario.Configuration) bool { return len(c.Fleet.Sizes) > 0 },
	}, {
		"fleet.speed", "fleet.speeds overrides it",
		func(c *scenario.Configuration) bool { return c.Fleet.Speed != 1 },
		func(c *scenario.Configuration) bool { return len(c.Fleet.Speeds) > 0 },
	}, {
		"market.renew", "no admission policy runs the spot market (be)",
		func(c *scenario.Configuration) bool { return c.Market.Renew > 0 },
		none(func(p *admission.Properties) bool { return p.Spot }),
	}, {
		"market.forecaster", "no admission policy forecasts prices",
		func(c *scenario.Configuration) bool {
			return c.Market.Forecaster.Name != scenario.Default().Market.Forecaster.Name
		},
		none(func(p *admission.Properties) bool { return p.Forecasts }),
	}, {
		"market.window", "no admission policy forecasts prices",
		func(c *scenario.Configuration) bool { return c.Market.Window != scenario.Default().Market.Window },
		none(func(p *admission.Properties) bool { return p.Forecasts }),
	}, {
		"sla.runs_on", "work continues after a soft deadline, and a job without a deadline is never late",
		func(c *scenario.Configuration) bool { return c.SLA.RunsOn },
		func(c *scenario.Configuration) bool { return c.SLA.Deadline == "soft" || c.SLA.Deadline == "none" },
	}, {
		"sla.penalty.max", "sla.penalty.rate is 0",
		func(c *scenario.Configuration) bool { return c.SLA.Penalty != nil && c.SLA.Penalty.Max != nil },
		func(c *scenario.Configuration) bool { return c.SLA.Penalty.Rate == 0 },
	}, {
		"sla.penalty.rate", "jobs without a deadline are never late",
		func(c *scenario.Configuration) bool { return c.SLA.Penalty != nil && c.SLA.Penalty.Rate > 0 },
		func(c *scenario.Configuration) bool { return c.SLA.Deadline == "none" },
	},
}

// Idle returns one sentence for each setting of e that has no effect in any configuration in
// which it is set. The sentence states the reason. For settings that are overridden by another
// value of the same field, see [scenario.Experiment.Overrides].
func Idle(e *scenario.Experiment) (all []string) {
	configurations := e.Expanded().Configurations
	for _, s := range idles {
		set, without := 0, 0
		for i := range configurations {
			if c := &configurations[i]; s.set(c) {
				set++
				if s.without(c) {
					without++
				}
			}
		}
		if set > 0 && without == set {
			all = append(all, s.field+" has no effect: "+s.because)
		}
	}
	return all
}
