package libra

import (
	"math"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/admission/policytest"
)

// TestMost checks that hosts are ranked by their return, to 40 binary digits.
func TestMost(t *testing.T) {
	t.Parallel()
	unit := math.Ldexp(1, -40) // of 1.5
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
		v.add(0, goldenTask{Left: 40, Span: 100, Budget: 1000})           // This task is added to those there.
		v.add(0, goldenTask{Left: 20, Span: 100, Budget: 10, Penalty: 1}) // No share is left for this task.
		d = newDecider(t, "librasla", options{"current": current})
		if got := d.Decide(0, &r, v); got.Verdict != contracts.Reject {
			t.Errorf("%s: somebody never ends: %v", current, got.Verdict)
		}
	}
}

// TestReturnsAgain checks that a contract that is placed again must end within its remaining
// time. At 40, next to a hard task that needs 0.3, 50 s of work by 100 are too much, but 40 s
// are not.
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
