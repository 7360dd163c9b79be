//go:build unix

package script_test

import (
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
	"time"

	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/admission/policytest"
	"bourse/contracts/admission/script"
	"bourse/contracts/bidding"
	"bourse/contracts/policies"
	"bourse/hosts"
	"bourse/market"
)

// processor returns the processor time of this process, on which other programs have less effect
// than on wall time.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// crowd is a market of 15 hosts with 50 contracts of 4 to 10 nodes, about 350 tasks.
func crowd(rng *rand.Rand) *policytest.Stand {
	s := new(policytest.Stand)
	for range 15 {
		s.Hosts = append(s.Hosts, policytest.Stall{Spec: hosts.Spec{CPUs: 50, Speed: 1}})
	}
	for c := range int32(50) {
		nodes := 4 + rng.IntN(7)
		r := policytest.Wish(1, nodes, 1)
		r.ID, r.PerHost = contracts.ID(c+1), true
		s.Contracts = append(s.Contracts, contracts.Contract{Request: r})
		for _, h := range rng.Perm(len(s.Hosts))[:nodes] {
			bid := market.Rate(1e6 + rng.IntN(1e6))
			on := &s.Hosts[h]
			on.Price += bid.Float64()
			on.Percentile = on.Price
			on.Allocations = append(on.Allocations, contracts.Allocation{Contract: c, Bid: bid, Rate: 1, Paying: 1, Of: int32(nodes), Share: hosts.Share{Weight: float64(bid)}})
		}
	}
	return s
}

// BenchmarkDecision measures one decision about a request of 10 nodes that is accepted, in a
// market of 15 hosts and 50 contracts, by built-in policies and by their scripts. The ratio
// must be at most 120.
func BenchmarkDecision(b *testing.B) {
	for _, name := range []string{"be", "sac", "cac"} {
		for _, kind := range []string{"native", "script"} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				rng := rand.New(rand.NewPCG(1, 2))
				view, r := crowd(rng), policytest.Wish(1, 10, 1)
				bid, err := bidding.Table(rng).New("cheapest", nil)
				if err != nil {
					b.Fatal(err)
				}
				p, err := policies.Table(bid, rng).New(name, nil)
				if err != nil {
					b.Fatal(err)
				}
				d, ok := admission.Decides(p)
				if kind == "script" {
					o := script.Options{File: "../../../experiments/examples/policies/" + name + ".star"}
					if err := o.Load(os.ReadFile, nil); err != nil {
						b.Fatal(err)
					}
					p, err := script.New(func(v any) error { *v.(*script.Options) = o; return nil }, bid, rng)
					if err != nil {
						b.Fatal(err)
					}
					d, ok = p.(contracts.Decider)
				}
				if !ok {
					b.Fatalf("%T decides nothing", p)
				}
				start := processor(b)
				for b.Loop() {
					if got := d.Decide(0, &r, view); got.Verdict != contracts.Accept {
						b.Fatalf("decided %+v", got)
					}
				}
				b.ReportMetric((processor(b)-start).Seconds()/float64(b.N)*1e6, "cpu-us/op")
			})
		}
	}
}
