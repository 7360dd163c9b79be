package admission

import (
	"math/rand/v2"
	"strings"

	"bourse/contracts"
	"bourse/contracts/bidding"
)

// noClass says that the class that it names is not sold.
const noClass contracts.Reason = "no such class"

// byClass leaves each request to the policy of the class that it names, be, sac,
// cac or rac, so that all four sell the same hosts (§3). Only a market of cac
// alone keeps its promises: the others admit without asking whom they slow down.
type byClass struct {
	policies map[string]contracts.Decider
	standard contracts.Decider // of requests that name no class
}

// classOptions are the options of class.
type classOptions struct {
	Default       string `yaml:"default" validate:"oneof=be sac cac rac" doc:"class of requests that name none"`
	ClassPolicies `yaml:",inline"`
}

// ClassPolicies are the options of the policies that classes, loads or hosts are decided by.
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

func defaultClassPolicies() (o ClassPolicies) {
	o.SAC.StatisticalOptions, o.CAC.CapacityOptions, o.RAC.RandomOptions = defaultStatistical(), defaultCapacity(), defaultRandom()
	return o
}

// policies makes them, by name.
func (o *ClassPolicies) policies(bid bidding.Strategy, rng *rand.Rand) map[string]contracts.Decider {
	return map[string]contracts.Decider{
		"be":  &BestEffort{bid: bid},
		"sac": statistical(o.SAC.StatisticalOptions, bid),
		"cac": &Capacity{Statistical: statistical(o.CAC.StatisticalOptions, bid), test: o.CAC.Capacity},
		"rac": &random{&BestEffort{bid: bid}, o.RAC.Reject, rng},
	}
}

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

// of returns the policy of r, nil if its class is not sold.
func (p *byClass) of(r *contracts.Request) contracts.Decider {
	if r.Class == "" {
		return p.standard
	}
	return p.policies[strings.ToLower(r.Class)] // the paper writes BE, SAC, CAC
}
