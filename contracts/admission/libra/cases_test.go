package libra

import (
	"testing"

	"bourse/contracts"
	"bourse/contracts/admission/policytest"
)

// TestSoftTopMustFit checks protect: strict (spec 6.3). A soft job with the highest return is
// not admitted if hard jobs leave too little capacity for it. The printed algorithm assumes
// that this job will be in time.
func TestSoftTopMustFit(t *testing.T) {
	t.Parallel()
	soft := false
	j := job{Estimate: 50, Deadline: 100, Procs: 1, Hard: &soft, Budget: 500, Penalty: 1}
	r := j.Request()
	for protect, want := range map[string]contracts.Verdict{"strict": contracts.Reject, "printed": contracts.Accept} {
		v := &still{policytest.Still{Specs: policytest.Uniform(1), Allocations: make([][]contracts.Allocation, 1)}}
		v.add(0, goldenTask{Left: 70, Span: 100, Hard: true, Budget: 70})
		d := newDecider(t, "librasla", options{"protect": protect}).Decide(0, &r, v)
		if d.Verdict != want {
			t.Errorf("protect %s: %v, want %v", protect, d.Verdict, want)
		}
	}
}

// TestNothingAllocated checks that policies that examine many hosts allocate nothing after the
// first decision.
func TestNothingAllocated(t *testing.T) {
	v := &still{policytest.Still{Specs: policytest.Uniform(40), Allocations: make([][]contracts.Allocation, 40)}}
	for h := range v.Specs {
		for range h % 4 {
			v.add(h, goldenTask{Left: 30, Span: float64(100 + h), Hard: h%2 == 0, Budget: 5})
		}
	}
	j := job{Estimate: 20, Deadline: 90, Procs: 8, Budget: 9}
	r := j.Request()
	for name, o := range map[string]options{
		"libra": nil, "librarisk": {"projection": "incumbent"}, "librasla": nil,
	} {
		p := newDecider(t, name, o)
		if d := p.Decide(0, &r, v); d.Verdict != contracts.Accept {
			t.Fatalf("%s: %v", name, d.Reason)
		}
		if n := testing.AllocsPerRun(20, func() { p.Decide(0, &r, v) }); n > 0 {
			t.Errorf("%s: %v allocations a decision", name, n)
		}
	}
}
