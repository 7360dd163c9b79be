// Package policies provides the table of all admission policies. It combines the packages
// inside contracts/admission. Each contains some policies and is independent of the others.
package policies

import (
	"math/rand/v2"
	"slices"

	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/admission/booked"
	"bourse/contracts/admission/cleared"
	"bourse/contracts/admission/libra"
	"bourse/contracts/admission/mixed"
	"bourse/contracts/admission/outside"
	"bourse/contracts/admission/queue"
	"bourse/contracts/admission/reserve"
	"bourse/contracts/admission/script"
	"bourse/contracts/bidding"
	"bourse/workloadgen/plugin"
)

// sources are the packages of policies.
var sources = []func() map[string]admission.Policy{admission.Policies, booked.Policies, cleared.Policies, mixed.Policies, libra.Policies, queue.Policies, reserve.Policies}

// Table returns the table of policies. The strategy bid chooses the hosts for the policy that
// is created, and rng is the random stream of the policy.
func Table(bid bidding.Strategy, rng *rand.Rand) plugin.Table[contracts.Policy] {
	t := plugin.Table[contracts.Policy]{Kind: "admission policy", Members: plugin.Members[contracts.Policy]{}}
	for _, policies := range sources {
		for name, p := range policies() {
			m := t.Members[name]
			m.Doc = p.Doc + "; for " + p.Sharing + " sharing"
			m.New = func(decode plugin.Decoder) (contracts.Policy, error) { return p.New(decode, bid, rng) }
			t.Members[name] = m
		}
	}
	return t
}

// WithOutside returns the table of policies, including the external ones: script and program.
// Their options must be loaded before the policy is created. The function decode does both.
func WithOutside(bid bidding.Strategy, rng *rand.Rand) plugin.Table[contracts.Policy] {
	t := Table(bid, rng)
	m := t.Members["script"]
	m.Doc = "decide by a function of a Starlark file; for the sharing that the file declares"
	m.New = func(decode plugin.Decoder) (contracts.Policy, error) { return script.New(decode, bid, rng) }
	t.Members["script"] = m
	m.Doc = "decide by a program that reads and writes JSON lines; for the sharing that it declares"
	m.New = func(decode plugin.Decoder) (contracts.Policy, error) { return outside.NewProgram(decode, bid, rng) }
	t.Members["program"] = m
	return t
}

// Of returns the properties of the named policy, or the zero value if it does not exist. The
// function New in the result creates the policy as New in [Table] does, from options that are
// known to be valid.
func Of(name string) admission.Policy {
	for _, policies := range sources {
		if p, ok := policies()[name]; ok {
			return p
		}
	}
	return admission.Policy{}
}

// Properties returns the properties of p, which was created under the given name. If the
// policy is not in the table, it reports the properties itself.
func Properties(name string, p contracts.Policy) admission.Properties {
	if own, ok := p.(interface{ Properties() admission.Properties }); ok {
		return own.Properties()
	}
	return Of(name).Properties
}

// NeedsDeadlines reports whether a policy with these properties cannot decide sensibly if jobs
// have no deadlines, under the given sharing rule.
func NeedsDeadlines(p admission.Properties, sharing string) bool {
	return p.Deadlines || sharing == "deadline" || sharing == "librasla"
}

// Tests returns those tests of a policy that compare two numbers, in the order in which the
// policy makes them. The broker makes the last test: whether the owner can pay.
func Tests(p admission.Properties) []admission.Test {
	unfunded := admission.Test{Reason: contracts.Unfunded, Got: "budget", Want: "balance", AtMost: true, Word: "its budget"}
	return append(slices.Clip(p.Tests), unfunded)
}
