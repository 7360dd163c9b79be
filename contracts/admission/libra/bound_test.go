package libra

import (
	"math/rand/v2"
	"testing"

	"bourse/contracts"
	"bourse/contracts/admission/policytest"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// TestBounds checks that a bound never rejects a host that accepts the request when its tasks
// are read. It covers any time until the next event and hosts of every speed and limit.
// Deadlines are often equal or near, and estimates are often used up.
func TestBounds(t *testing.T) {
	t.Parallel()
	rejected, over, read := 0, 0, 0
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 0))
		spec := hosts.Spec{CPUs: []float64{1, 2, 4}[rng.IntN(3)], Speed: []float64{1, 0.5, 3}[rng.IntN(3)]}
		if rng.IntN(3) > 0 {
			spec.Cap = 1
		}
		v := &still{policytest.Still{Specs: []hosts.Spec{spec}, Allocations: make([][]contracts.Allocation, 1)}}
		tasks := 1 + rng.IntN(6)
		full := spec.CPUs / float64(tasks) * (0.5 + rng.Float64())
		for range tasks {
			g := goldenTask{Span: 10 + 1000*rng.Float64(), Hard: rng.IntN(2) == 0}
			if rng.IntN(4) == 0 {
				g.Span = 100
			}
			g.Left = g.Span * full * rng.ExpFloat64()
			if rng.IntN(6) == 0 {
				g.Left, g.Keep = 0, min(sharing.NodeOf(&spec).Most, full)
			}
			v.add(0, g)
		}
		progress(v)
		p := newDecider(t, "librarisk", options{"spare": "proportional"}).(*LibraRisk)
		from := 50 * rng.Float64()
		b := boundOf(from, v, 0)
		for range 50 {
			now := from + 100*rng.Float64()*rng.Float64()
			j := job{Estimate: rng.ExpFloat64() * 100, Deadline: now + 100*rng.ExpFloat64(), Procs: 1}
			if rng.IntN(4) == 0 {
				j.Deadline = 100
			}
			r := j.Request()
			switch safe := p.safe(now, &r, v, 0); {
			case b.risky(now, &r) && safe:
				t.Errorf("seed %d: %+v excludes %v s of work until %v at %v, and it is without risk: %+v", seed, b, j.Estimate, j.Deadline, now, v.Contracts)
			case b.risky(now, &r):
				if rejected++; r.Work < b.over*(r.Due()-now) {
					over++
				}
			case !safe:
				read++
			}
		}
	}
	if rejected < read || over < 1000 {
		t.Errorf("%d hosts with risk are rejected by their bounds, %d of them for a task that must be late, and %d read", rejected, over, read)
	}
}

// progress sets the rates of the tasks on the host of v at time 0, according to the sharing
// rule.
func progress(v *still) {
	on, spec := v.Allocations[0], &v.Specs[0]
	n := sharing.NodeOf(spec)
	var needs []float64
	for i := range on {
		needs = append(needs, sharing.RequiredBy(0, &on[i], v.Contract(on[i].Contract), spec.Speed))
	}
	rates := make([]float64, len(on))
	hosts.Divide(n.Size, n.Most, n.Split(sharing.Proportional, needs, nil), rates)
	for i := range on {
		on[i].Rate, on[i].Need = rates[i]*spec.Speed, min(needs[i], n.Most)
	}
}
