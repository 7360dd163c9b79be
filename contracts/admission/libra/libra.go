// Package libra contains the policies that promise shares of hosts by deadline: libra and
// librarisk (Yeo, Buyya, "Managing Risk of Inaccurate Runtime Estimates for Deadline
// Constrained Job Admission Control in Clusters", Risk) and librasla (SLA). For each request,
// the policies compute the state of every host with the request added, and choose the hosts
// themselves. The package is independent of prices.
package libra

import (
	"math"
	"math/rand/v2"

	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/bidding"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// sliver is the excess over the capacity of a host, in processors, that is treated as
// rounding.
const sliver = sharing.Sliver

// noShare means that too few hosts have enough capacity left for the request.
const noShare contracts.Reason = "too few hosts have the share it needs"

// Policies returns the policies of this package, by name.
func Policies() map[string]admission.Policy {
	return map[string]admission.Policy{
		"libra":     {Doc: "admit if all deadlines can be kept, best fit (Libra)", New: newLibra, Properties: admission.Properties{Sharing: "deadline", Tests: tests(noShare), Deadlines: true}},
		"librarisk": {Doc: "admit on hosts where no task risks more delay than another (LibraRisk)", New: newLibraRisk, Properties: admission.Properties{Sharing: "deadline", Tests: tests(risky), Deadlines: true}},
		"librasla":  {Doc: "admit on hosts whose return increases (LibraSLA)", New: newLibraSLA, Properties: admission.Properties{Sharing: "librasla", Tests: tests(noReturn), Deadlines: true}},
	}
}

// tests returns the test of a policy that rejects requests if too few hosts are suitable.
func tests(why contracts.Reason) []admission.Test {
	return []admission.Test{{Reason: why, Got: "hosts", Want: "nodes", Word: "the number of suitable hosts"}}
}

// Libra admits a request if enough hosts can give it the share that it needs to finish by its
// deadline, without reducing the shares of other tasks (Risk, §3.1). The need of a task is its
// remaining runtime divided by the time to its deadline. For example, with 50 s of work due in
// 100 s, it needs half a processor.
//
// A host is suitable if the sum of the needs of its tasks and of the new task does not exceed
// its capacity. Libra takes the suitable hosts with the least capacity left (best fit), which
// leaves room for large requests on the other hosts.
//
// References: Yeo, Buyya, "Managing Risk of Inaccurate Runtime Estimates for Deadline
// Constrained Job Admission Control in Clusters" (Risk), and the SLA paper.
type Libra struct{ chooser }

// newLibra returns a libra policy, which has no options.
func newLibra(decode func(any) error, _ bidding.Strategy, _ *rand.Rand) (contracts.Policy, error) {
	return admission.Immediate(&Libra{}), decode(&struct{}{})
}

// Decide implements [contracts.Decider].
func (p *Libra) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	p.begin(r)
	// Examine all hosts, because the best fit may be the last one.
	for h := range hosts.ID(v.Fleet()) {
		if left, ok := after(now, r, v, h); ok && contracts.Eligible(h, r, v) {
			p.add(h, fit(left))
		}
	}
	return p.choose(r, noShare)
}

// fit returns the rank of a host, given the number of its processors that no task needs. The
// best fit has the lowest rank. Differences of up to sliver are ignored.
func fit(left float64) float64 { return math.Round(left / sliver) }

// after returns the number of processors of h that no task would need if a task of r were
// added. It also reports whether h would have enough processors for all its tasks.
func after(now float64, r *contracts.Request, v contracts.View, h hosts.ID) (left float64, ok bool) {
	spec := v.Spec(h)
	node := sharing.NodeOf(spec)
	need := sharing.Required(r.Work/spec.Speed, r.Due()-now, 0)
	left = node.Size - needs(now, v, h) - need
	return left, left >= -sliver && need <= node.Most+sliver
}

// needs returns the total need of the tasks on h, in processors. It is +Inf if the deadline of
// a task has passed.
func needs(now float64, v contracts.View, h hosts.ID) float64 {
	sum, on, speed := 0.0, v.On(h), v.Spec(h).Speed
	for i := range on {
		sum += sharing.RequiredBy(now, &on[i], v.Contract(on[i].Contract), speed)
	}
	return sum
}
