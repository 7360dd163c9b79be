package admission

import (
	"math/rand/v2"

	"bourse/contracts"
	"bourse/contracts/bidding"
)

// Classes holds the options of this package's policies. Policies that choose among these
// policies contain it.
type Classes struct {
	SAC struct {
		StatisticalOptions `yaml:",inline"`
	} `yaml:"sac" doc:"options of the class sac"`
	CAC struct {
		CapacityOptions `yaml:",inline"`
	} `yaml:"cac" doc:"options of the class cac"`
	RAC struct {
		RandomOptions `yaml:",inline"`
	} `yaml:"rac" doc:"options of the class rac"`
}

// DefaultClasses returns the default options of each policy.
func DefaultClasses() (o Classes) {
	o.SAC.StatisticalOptions, o.CAC.CapacityOptions, o.RAC.RandomOptions = defaultStatistical(), defaultCapacity(), defaultRandom()
	return o
}

// Deciders creates the policies and returns them by name.
func (o *Classes) Deciders(bid bidding.Strategy, rng *rand.Rand) map[string]contracts.Decider {
	return map[string]contracts.Decider{
		"be":  &BestEffort{bid: bid},
		"sac": statistical(o.SAC.StatisticalOptions, bid),
		"cac": capacity(o.CAC.CapacityOptions, bid),
		"rac": &random{&BestEffort{bid: bid}, o.RAC.Reject, rng},
	}
}
