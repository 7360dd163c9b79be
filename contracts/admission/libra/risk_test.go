package libra

import (
	"math"
	"testing"

	"bourse/contracts"
	"bourse/contracts/admission/policytest"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// TestUnpromised checks that a task without a promised time is always in time, so there is a
// risk exactly if another task is late (Risk, eq. 4 to 6).
func TestUnpromised(t *testing.T) {
	t.Parallel()
	never := math.Inf(1)
	for _, c := range []struct {
		what       string
		left, span []float64
		safe       bool
	}{
		{"alone", []float64{50}, []float64{never}, true},
		{"two of them", []float64{50, 70}, []float64{never, never}, true},
		{"beside one that is in time", []float64{50, 40}, []float64{never, 100}, true},
		{"beside one that cannot be", []float64{50, 140}, []float64{never, 100}, false},
		{"used up, beside one that is in time", []float64{0, 40}, []float64{never, 100}, true},
	} {
		for _, shares := range []string{"dynamic", "static", "incumbent"} {
			for _, most := range []float64{1, 0.5} { // maximum number of processors of a task
				p := &projection{Spare: sharing.Proportional, Shares: shares}
				for i := range c.left {
					p.Add(c.left[i], c.span[i], 0)
				}
				if got := p.project(sharing.Node{Size: 1, Most: most}); got != c.safe {
					t.Errorf("%s, %s, at most %v: without risk %v, want %v", c.what, shares, most, got, c.safe)
				}
			}
		}
	}
}

// TestZeroRisk checks that deviations of up to 1e-9 of the mean, or of 1, are no risk, and that
// a deadline that has passed, within a tick, is a risk (Risk, eq. 5 and 6).
func TestZeroRisk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		risk Risk
		want bool
	}{
		{Risk{1, 0}, true}, {Risk{1, 1e-9}, true}, {Risk{1, 1.1e-9}, false}, {Risk{0.5, 1e-9}, true},
		{Risk{100, 9e-8}, true}, {Risk{100, 1.1e-7}, false},
	} {
		if got := c.risk.Zero(); got != c.want {
			t.Errorf("%+v: %v, want %v", c.risk, got, c.want)
		}
	}
	if r := RiskOf([]float64{0, 0}, []float64{sharing.Tick, 9}); !math.IsInf(r.Mean, 1) || !math.IsInf(r.Sigma, 1) {
		t.Errorf("past a deadline: %+v", r)
	}
	if r := RiskOf([]float64{0, 0}, []float64{1.1 * sharing.Tick, 9}); !r.Zero() {
		t.Errorf("just before a deadline: %+v", r)
	}
}

// TestRiskEdges checks differences that count as rounding, with the lemmas and with the
// projection: a tick of time or work, a sliver of a processor, and deadlines that differ by
// 1e-9.
func TestRiskEdges(t *testing.T) {
	t.Parallel()
	const tick, sliver = sharing.Tick, sharing.Sliver
	for _, c := range []struct {
		name             string
		left, span, keep []float64
		safe             bool
	}{
		{"a deadline has come", []float64{5, 5}, []float64{tick, tick}, []float64{0, 0}, false},
		{"needs fit", []float64{0.5, 1}, []float64{1, 2}, []float64{0, 0}, true},
		{"needs fit to a sliver", []float64{0.5, 2 * (0.5 + 0.9*sliver)}, []float64{1, 2}, []float64{0, 0}, true},
		{"needs do not", []float64{5, 20 * (0.5 + 100*sliver)}, []float64{10, 20}, []float64{0, 0}, false},
		{"one deadline", []float64{5, 6}, []float64{10, 10}, []float64{0, 0}, true},
		{"one deadline, and nothing left of one", []float64{tick, 11}, []float64{10, 10}, []float64{0, 0}, false},
		{"alone with nothing left", []float64{tick}, []float64{10}, []float64{0}, true},
		{"nothing left of one, the other in time", []float64{tick, 9}, []float64{10, 10}, []float64{0, 0}, true},
		{"used up, and it goes on", []float64{tick, 16}, []float64{10, 20}, []float64{0.5, 0}, false},
		{"used up, and they fit", []float64{tick, 8}, []float64{10, 20}, []float64{0.5, 0}, true},
	} {
		fill := func() *projection {
			p := &projection{Spare: "none", Shares: "dynamic"}
			for i := range c.left {
				p.Add(c.left[i], c.span[i], c.keep[i])
			}
			return p
		}
		if got := fill().lemmas(one); got != c.safe {
			t.Errorf("%s: by the lemmas %v, want %v", c.name, got, c.safe)
		}
		if got := fill().project(one); got != c.safe {
			t.Errorf("%s: projected %v, want %v", c.name, got, c.safe)
		}
	}
	for _, c := range []struct {
		first float64
		one   bool
	}{{1e9, true}, {1e9 - 1, true}, {1e9 - 2, false}} { // seconds until the second deadline
		var p projection
		p.Add(0.7e9, c.first, 0)
		p.Add(0.7e9, 1e9, 0)
		if got := p.lemmas(one); got != c.one {
			t.Errorf("deadlines %v s apart are one: %v", 1e9-c.first, got)
		}
	}
}

// TestRiskDecides checks LibraRisk on a host with one task. A request with the same deadline,
// within rounding, is accepted even if both tasks are late. A request with a different deadline
// is not accepted. If a task can use only a part of the host, which the lemmas do not cover, a
// task that cannot be in time is a risk to a request that needs almost nothing. The static
// projection finds no risk (spec 5.2).
func TestRiskDecides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		cpus, most     float64
		left           float64 // remaining work of the task, due at 100
		work, deadline float64 // work and deadline of the request
		projection     string
		want           contracts.Verdict
	}{
		{"one deadline", 1, 0, 80, 80, 100, "dynamic", contracts.Accept},
		{"one to rounding", 1, 0, 80, 80, 100 + 5e-8, "dynamic", contracts.Accept},
		{"another", 1, 0, 80, 80, 101, "dynamic", contracts.Reject},
		{"another, but shares stay as they are", 1, 0, 80, 80, 101, "static", contracts.Accept},
		{"room for both", 1, 0, 80, 20, 101, "dynamic", contracts.Accept},
		{"one processor of two is too few", 2, 1, 150, 1, 50, "dynamic", contracts.Reject},
		{"one processor of two is enough", 2, 1, 90, 1, 50, "dynamic", contracts.Accept},
		{"both are enough", 2, 0, 150, 1, 50, "dynamic", contracts.Accept},
	} {
		v := &still{policytest.Still{Specs: []hosts.Spec{{CPUs: c.cpus, Cap: c.most, Speed: 1}}, Allocations: make([][]contracts.Allocation, 1)}}
		v.add(0, goldenTask{Left: c.left, Span: 100})
		j := job{Estimate: c.work, Deadline: c.deadline, Procs: 1}
		r := j.Request()
		if d := newDecider(t, "librarisk", options{"projection": c.projection}).Decide(0, &r, v); d.Verdict != c.want {
			t.Errorf("%s: %v, want %v", c.name, d.Verdict, c.want)
		}
	}
}
