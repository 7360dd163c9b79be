package admission

import (
	"math/rand/v2"
	"strings"

	"bourse/contracts"
	"bourse/contracts/bidding"
)

// noClass means that the class named by the request is not offered.
const noClass contracts.Reason = "no such class"

// byClass delegates each request to the policy of the class that it names: be, sac, cac or
// rac. All four classes thus share the same hosts (§3). In such a mix the promises of cac do
// not hold, because the other classes admit requests without checking whom they slow down.
// Only a market in which all requests use cac keeps them.
type byClass struct {
	policies map[string]contracts.Decider
	standard contracts.Decider // for requests that name no class
}

// classOptions are the options of class.
type classOptions struct {
	Default       string `yaml:"default" validate:"oneof=be sac cac rac" doc:"class of requests without one"`
	ClassPolicies `yaml:",inline"`
}

// ClassPolicies are the options of the policies among which class, adaptive and partition
// choose.
type ClassPolicies struct {
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

// defaultClassPolicies returns the default options of each policy.
func defaultClassPolicies() (o ClassPolicies) {
	o.SAC.StatisticalOptions, o.CAC.CapacityOptions, o.RAC.RandomOptions = defaultStatistical(), defaultCapacity(), defaultRandom()
	return o
}

// policies creates the policies, by name.
func (o *ClassPolicies) policies(bid bidding.Strategy, rng *rand.Rand) map[string]contracts.Decider {
	return map[string]contracts.Decider{
		"be":  &BestEffort{bid: bid},
		"sac": statistical(o.SAC.StatisticalOptions, bid),
		"cac": &Capacity{Statistical: statistical(o.CAC.StatisticalOptions, bid), test: o.CAC.Capacity},
		"rac": &random{&BestEffort{bid: bid}, o.RAC.Reject, rng},
	}
}

// newByClass returns a class policy with the decoded options.
func newByClass(decode func(any) error, bid bidding.Strategy, rng *rand.Rand) (contracts.Decider, error) {
	o := classOptions{Default: "be", ClassPolicies: defaultClassPolicies()}
	err := decode(&o)
	p := &byClass{policies: o.policies(bid, rng)}
	p.standard = p.policies[o.Default]
	return p, err
}

// Decide implements [contracts.Decider].
func (p *byClass) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	policy := p.of(r)
	if policy == nil {
		return contracts.Decision{Reason: noClass}
	}
	return policy.Decide(now, r, v)
}

// Judged implements judge.
func (p *byClass) Judged(r *contracts.Request, o contracts.Outcome) {
	judged(p.of(r), r, o)
}

// of returns the policy for r, or nil if its class is not offered.
func (p *byClass) of(r *contracts.Request) contracts.Decider {
	if r.Class == "" {
		return p.standard
	}
	return p.policies[strings.ToLower(r.Class)] // the paper writes BE, SAC, CAC
}
