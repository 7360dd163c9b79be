package admission

import (
	"fmt"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/admission/policytest"
	"bourse/hosts"
)

// endless is a market that records the span of the last question about a host's stay.
type endless struct {
	contracts.View
	asked float64
}

func (e *endless) Stays(_ hosts.ID, span float64) float64 {
	e.asked = span
	return 0.5
}

// TestStaysOnDemand checks requests without a promised time, both new and placed again. The
// policy must ask for the probability that a host stays while the budget may be spent, because
// no predictor covers an infinite span.
func TestStaysOnDemand(t *testing.T) {
	t.Parallel()
	p := Statistical{StatisticalOptions: StatisticalOptions{Discount: "predicted"}}
	for _, repeat := range []bool{false, true} {
		r := contracts.Request{Submit: 10, OnDemand: true, Repeat: repeat, SLA: contracts.SLA{Deadline: 50}}
		v := new(endless)
		if p.stays(20, &r, 0, v); v.asked != 50 || r.Span(20) != 50 {
			t.Errorf("repeat %v: asked about %v s, work is to be done in %v s, want 50 both", repeat, v.asked, r.Span(20))
		}
		r.OnDemand = false
		want := map[bool]float64{false: 50, true: 40}[repeat]
		if p.stays(20, &r, 0, v); v.asked != 40 || r.Span(20) != want {
			t.Errorf("repeat %v: asked about %v s, want 40; work is to be done in %v s, want %v", repeat, v.asked, r.Span(20), want)
		}
	}
}

// unsteady is a static market whose hosts stay with a given probability.
type unsteady struct {
	policytest.Still
	stays []float64
	asked float64 // span of the last question
}

func (s *unsteady) Stays(h hosts.ID, span float64) float64 {
	s.asked = span
	return s.stays[h]
}

func (s *unsteady) Percentile(hosts.ID, float64) float64 { return 0.5 }

func (s *unsteady) Cheapest(r *contracts.Request, out []hosts.ID) []hosts.ID {
	for h := range s.Specs {
		out = append(out, hosts.ID(h))
	}
	return out[:r.Nodes]
}

// TestDiscount checks that sac and cac multiply the share of a request on each host by the
// probability that the host stays until the deadline, and that without discount no predictor is
// asked. The hosts have two processors, a price of 0 $/s and a percentile of 0.5 $/s. A bid of
// 1 $/s per node buys a whole host at the price, and 2/3 of a host at the percentile. The
// threshold is 1/(1+2) per node. Work of 80 within 100 s needs 0.8 of the one processor that a
// task can use.
func TestDiscount(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy, discount string
		stays            []float64
		want             contracts.Reason
		share            float64 // share expected at the percentile
	}{
		{"sac", "none", []float64{0, 0}, contracts.None, 4. / 3},
		{"sac", "predicted", []float64{1, 1}, contracts.None, 4. / 3},
		{"sac", "predicted", []float64{0.5, 0.5}, contracts.None, 2. / 3},
		{"sac", "predicted", []float64{0, 1}, contracts.None, 2. / 3},
		{"sac", "predicted", []float64{0.49, 0.5}, belowForecast, 0.66},
		{"sac", "predicted", []float64{0.3, 0.3}, belowSpot, 0.4},
		{"cac", "none", []float64{0, 0}, contracts.None, 4. / 3},
		{"cac", "predicted", []float64{0.8, 0.8}, contracts.None, 3.2 / 3},
		{"cac", "predicted", []float64{0.6, 1}, contracts.None, 3.2 / 3},
		{"cac", "predicted", []float64{0.79, 0.8}, wouldViolate, 3.18 / 3},
	} {
		v := &unsteady{stays: c.stays}
		v.Specs = []hosts.Spec{{Name: "a", CPUs: 2, Speed: 1, Cap: 1}, {Name: "b", CPUs: 2, Speed: 1, Cap: 1}}
		v.Allocations = make([][]contracts.Allocation, 2)
		p := newDecider(t, c.policy, options{"discount": c.discount})
		r := contracts.Request{ID: 1, Work: 80, Nodes: 2}
		r.SLA.Budget, r.SLA.Deadline = must(bank.Dollars(200)), 100
		d := p.Decide(0, &r, v)
		name := fmt.Sprintf("%s, %s, hosts that stay with %v", c.policy, c.discount, c.stays)
		if share := numbers(d)["share"]; d.Reason != c.want || !close(share, c.share) {
			t.Errorf("%s: %v with share %v, want %v with %v", name, d.Reason, share, c.want, c.share)
		}
		mean := 0.0
		if c.discount == "predicted" {
			mean = (c.stays[0] + c.stays[1]) / 2
		}
		if stays := numbers(d)["stays"]; !close(stays, mean) {
			t.Errorf("%s: hosts stay with %v in the mean, want %v", name, stays, mean)
		}
		if asked := v.asked == 100; asked != (c.discount == "predicted") {
			t.Errorf("%s: asked for a span of %v", name, v.asked)
		}
	}
}
