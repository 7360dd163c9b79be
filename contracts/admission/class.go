package admission

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"bourse/contracts"
	"bourse/contracts/bidding"
)

// NoClass says that the class that it names is not sold.
const NoClass contracts.Reason = "no such class"

// ByClass leaves each request to the policy of the class that it names, be, sac,
// cac or rac, so that all four sell the same hosts (§3). Only a market of cac
// alone keeps its promises: the others admit without asking whom they slow down.
type ByClass struct {
	policies map[string]contracts.Decider
	standard contracts.Decider // of requests that name no class
}

// ClassOptions are the options of class.
type ClassOptions struct {
	Default string `yaml:"default" doc:"class of requests that name none: be, sac, cac or rac"`
	SAC     struct {
		StatisticalOptions `yaml:",inline"`
	} `yaml:"sac" doc:"options of the class sac"`
	CAC struct {
		CapacityOptions `yaml:",inline"`
	} `yaml:"cac" doc:"options of the class cac"`
	RAC struct {
		RandomOptions `yaml:",inline"`
	} `yaml:"rac" doc:"options of the class rac"`
}

func newByClass(decode func(any) error, bid bidding.Strategy, rng *rand.Rand) (contracts.Decider, error) {
	o := ClassOptions{Default: "be"}
	o.SAC.StatisticalOptions, o.CAC.CapacityOptions, o.RAC.RandomOptions = defaultStatistical(), defaultCapacity(), defaultRandom()
	if err := decode(&o); err != nil {
		return nil, err
	}
	p := &ByClass{policies: make(map[string]contracts.Decider)}
	for _, class := range []struct {
		name   string
		new    maker
		decode func(any) error
	}{
		{"be", newBestEffort, given(struct{}{})},
		{"sac", newStatistical, given(o.SAC.StatisticalOptions)},
		{"cac", newCapacity, given(o.CAC.CapacityOptions)},
		{"rac", newRandom, given(o.RAC.RandomOptions)},
	} {
		policy, err := class.new(class.decode, bid, rng)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", class.name, err)
		}
		p.policies[class.name] = policy
	}
	if p.standard = p.policies[o.Default]; p.standard == nil {
		return nil, fmt.Errorf("default is %q, want be, sac, cac or rac", o.Default)
	}
	return p, nil
}

// given decodes to what o is.
func given[T any](o T) func(any) error {
	return func(v any) error {
		*v.(*T) = o
		return nil
	}
}

// Decide implements [contracts.Decider].
func (p *ByClass) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	policy := p.standard
	if r.Class != "" {
		policy = p.policies[strings.ToLower(r.Class)] // the paper writes BE, SAC, CAC
	}
	if policy == nil {
		return contracts.Decision{Reason: NoClass}
	}
	return policy.Decide(now, r, v)
}
