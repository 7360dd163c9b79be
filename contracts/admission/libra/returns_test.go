package libra

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/admission/policytest"
	"bourse/hosts"
)

// TestMost checks that hosts are ranked by their return, to 40 binary digits.
func TestMost(t *testing.T) {
	t.Parallel()
	unit := math.Ldexp(1, -40) // unit of the last retained digit of 1.5
	for _, c := range []struct{ returns, want float64 }{
		{1.5, 1.5}, {1.5 + 0.4*unit, 1.5}, {1.5 - 0.4*unit, 1.5}, {1.5 + 0.6*unit, 1.5 + unit}, {1.5 - 0.6*unit, 1.5 - unit}, {0, 0}, {-1.5, -1.5},
	} {
		if got := most(c.returns); got != -c.want {
			t.Errorf("%v ranks as %v, want %v", c.returns, -got, c.want)
		}
	}
}

// TestReturnsAsMuch checks that a host is suitable if it returns as much with a task as without
// it (SLA, Algorithm 1), under either option. A host is never suitable if one of its tasks
// would never end, even if this is already the case.
func TestReturnsAsMuch(t *testing.T) {
	t.Parallel()
	soft := false
	for _, current := range []string{"recompute", "stored"} {
		v := &still{policytest.Still{Specs: policytest.Uniform(1), Allocations: make([][]contracts.Allocation, 1)}}
		v.add(0, goldenTask{Left: 60, Span: 100, Hard: true, Budget: 10})
		j := job{Estimate: 10, Deadline: 100, Procs: 1, Hard: &soft}
		r := j.Request()
		r.SLA.Budget = bank.Micros(0)
		d := newDecider(t, "librasla", options{"current": current})
		if got := d.Decide(0, &r, v); got.Verdict != contracts.Accept {
			t.Errorf("%s: it returns nothing: %v", current, got.Reason)
		}
		v.add(0, goldenTask{Left: 40, Span: 100, Budget: 1000})           // Add this task to the tasks on the host.
		v.add(0, goldenTask{Left: 20, Span: 100, Budget: 10, Penalty: 1}) // No share is left for this task.
		d = newDecider(t, "librasla", options{"current": current})
		if got := d.Decide(0, &r, v); got.Verdict != contracts.Reject {
			t.Errorf("%s: somebody never ends: %v", current, got.Verdict)
		}
	}
}

// TestReturnsAgain checks that a contract that is placed again must end within its remaining
// time. At 40, next to a hard task that needs 0.3 of the host, 50 s of work by 100 are too
// much, but 40 s are not.
func TestReturnsAgain(t *testing.T) {
	t.Parallel()
	for _, current := range []string{"recompute", "stored"} {
		for work, want := range map[float64]contracts.Verdict{50: contracts.Reject, 40: contracts.Accept} {
			v := &still{policytest.Still{Specs: policytest.Uniform(1), Allocations: make([][]contracts.Allocation, 1)}}
			v.add(0, goldenTask{Left: 30, Span: 140, Runtime: 30, Deadline: 140, Hard: true, Budget: 10})
			v.Allocations[0][0].Rate = 0.3
			j := job{Estimate: work, Deadline: 100, Procs: 1, Budget: 10}
			r := j.Request()
			r.Repeat = true
			d := newDecider(t, "librasla", options{"current": current}).Decide(40, &r, v)
			if d.Verdict != want {
				t.Errorf("%s: %v s: %v, want %v", current, work, d.Verdict, want)
			}
		}
	}
}

// TestSkipsOnlyOthers checks that LibraSLA decides as if it planned every host with the
// request, although it skips hosts that are full or return less than the hosts found.
func TestSkipsOnlyOthers(t *testing.T) {
	t.Parallel()
	verdicts, skipped := map[contracts.Verdict]int{}, 0
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 0))
		spec := hosts.Spec{CPUs: []float64{1, 2}[rng.IntN(2)], Speed: []float64{1, 0.5, 3}[rng.IntN(3)]}
		if rng.IntN(2) > 0 {
			spec.Cap = 1
		}
		v := &still{policytest.Still{Specs: slices.Repeat([]hosts.Spec{spec}, 5), Allocations: make([][]contracts.Allocation, 5)}}
		for h := range v.Specs {
			for range rng.IntN(4) {
				g := goldenTask{Span: 10 + 1000*rng.Float64(), Hard: rng.IntN(4) > 0, Budget: float64(1 + rng.IntN(3)), Penalty: rng.Float64() / 10}
				g.Left = g.Span * rng.ExpFloat64() / 2
				if rng.IntN(6) == 0 {
					g.Left, g.Keep, g.Runtime, g.Deadline = 0, 0.5, 10, g.Span
				}
				v.add(h, g)
				on := v.Allocations[h]
				on[len(on)-1].Rate = rng.Float64() * spec.Speed
			}
		}
		strict := rng.IntN(2) == 0
		o := options{"protect": map[bool]string{true: "strict", false: "printed"}[strict]}
		p, whole := newDecider(t, "librasla", o).(*LibraSLA), newDecider(t, "librasla", o).(*LibraSLA)
		now := 0.0
		for range 20 {
			now += 5 * rng.Float64()
			hard := rng.IntN(4) > 0
			j := job{Estimate: rng.ExpFloat64() * 50, Deadline: 100 + 100*rng.ExpFloat64(), Procs: 1 + rng.IntN(2), Hard: &hard, Budget: float64(1 + rng.IntN(3))}
			r := j.Request()
			r.Submit = now
			if r.Span(now) <= r.Work {
				continue
			}
			got := p.Decide(now, &r, v)
			whole.see(now, v)
			whole.offer = offer(now, &r)
			var want []candidate
			for h := range hosts.ID(len(v.Specs)) {
				if whole.suits(now, &r, v, h) {
					want = append(want, candidate{h, most(whole.new.Return)})
				}
				if b := &p.bounds[h]; strict && hard && b.full(now, r.Work, r.SLA.Deadline) {
					skipped++
				}
			}
			slices.SortStableFunc(want, func(a, b candidate) int { return cmp.Compare(a.rank, b.rank) })
			verdicts[got.Verdict]++
			if (got.Verdict == contracts.Accept) != (len(want) >= r.Nodes) {
				t.Fatalf("seed %d at %v: %v, want %v", seed, now, got, want)
			}
			for i, place := range got.Placements {
				if place.Host != want[i].host {
					t.Errorf("seed %d at %v: node %d on %d, want %v", seed, now, i, place.Host, want)
				}
			}
		}
	}
	if verdicts[contracts.Accept] < 1000 || verdicts[contracts.Reject] < 1000 || skipped < 1000 {
		t.Errorf("%v, %d full: too few to tell", verdicts, skipped)
	}
}
