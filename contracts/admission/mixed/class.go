// Package mixed contains the policies that combine the market's policies be, sac, cac and rac.
// Policy class chooses by the class that a request names, adaptive by the load, and partition
// by the host.
package mixed

import (
	"math/rand/v2"
	"strings"

	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/bidding"
)

// noClass means that the class named by the request is not offered.
const noClass contracts.Reason = "no such class"

// classes are the names of the combined policies. A request can name one of them.
var classes = []string{"be", "sac", "cac", "rac"}

// Policies returns the policies of this package, by name. Each policy makes the tests of the
// policies that it combines.
func Policies() map[string]admission.Policy {
	tests := admission.Policies()["cac"].Tests
	return map[string]admission.Policy{
		"adaptive":  {Doc: "by load: one policy under low load, another under high load (§1)", New: newAdaptive, Properties: admission.Properties{Sharing: "auction", Tests: tests, Forecasts: true}},
		"class":     {Doc: "mixed: each request by the policy of its class (§3)", New: newByClass, Properties: admission.Properties{Sharing: "auction", Tests: tests, Forecasts: true, Classes: classes}},
		"partition": {Doc: "some hosts for reservations, the others for the spot market (§5)", New: newPartition, Properties: admission.Properties{Sharing: "auction", Tests: tests, Forecasts: true, Classes: classes}},
	}
}

// byClass delegates each request to the policy of the class that it names: be, sac, cac or rac.
// All four classes thus share the same hosts (§3). In such a mix the promises of cac are not
// kept, because the other classes admit requests without checking which contracts the requests
// slow down. Only a market in which all requests use cac keeps these promises.
type byClass struct {
	policies map[string]contracts.Decider
	standard contracts.Decider // policy for requests that name no class
}

// classOptions are the options of class.
type classOptions struct {
	Default           string `yaml:"default" validate:"oneof=be sac cac rac" doc:"class of requests without one"`
	admission.Classes `yaml:",inline"`
}

// newByClass returns a class policy with the decoded options.
func newByClass(decode func(any) error, bid bidding.Strategy, rng *rand.Rand) (contracts.Policy, error) {
	o := classOptions{Default: "be", Classes: admission.DefaultClasses()}
	err := decode(&o)
	p := &byClass{policies: o.Deciders(bid, rng)}
	p.standard = p.policies[o.Default]
	return admission.Immediate(p), err
}

// Decide implements [contracts.Decider].
func (p *byClass) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	policy := p.of(r)
	if policy == nil {
		return contracts.Decision{Reason: noClass}
	}
	return policy.Decide(now, r, v)
}

// Rebid implements [contracts.Rebidder].
func (p *byClass) Rebid(now float64, i int32, on []contracts.Placement, v contracts.View) contracts.Decision {
	return admission.Rebid(p.of(&v.Contract(i).Request), now, i, on, v)
}

// Judged is called by [admission.Judged].
func (p *byClass) Judged(r *contracts.Request, o contracts.Outcome) {
	admission.Judged(p.of(r), r, o)
}

// of returns the policy for r, or nil if the class of r is not offered.
func (p *byClass) of(r *contracts.Request) contracts.Decider {
	if r.Class == "" {
		return p.standard
	}
	return p.policies[strings.ToLower(r.Class)] // the paper writes the names in capital letters: BE, SAC, CAC
}
