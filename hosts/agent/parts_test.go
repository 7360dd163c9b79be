//go:build linux

package agent

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"bourse/hosts"
	"bourse/hosts/linux"
)

// TestParts checks that limits converge to the fair shares on a machine that gives each task
// the smaller of its limit and its demand: each task with unlimited demand receives its share,
// by Divide, of the processors that the other tasks do not use, and no task receives less than
// its entitlement.
func TestParts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		processors := rapid.Float64Range(0.5, 4).Draw(r, "processors")
		n := rapid.IntRange(1, 5).Draw(r, "tasks")
		shares := make([]linux.Share, n)
		wants, used, limits := make([]float64, n), make([]float64, n), make([]float64, n)
		var plain, wanted []hosts.Share
		for i := range shares {
			shares[i].Share = hosts.Share{Weight: rapid.Float64Range(0.1, 4).Draw(r, "weight"), Limit: 1}
			wants[i] = 1
			if rapid.Bool().Draw(r, "idle") {
				wants[i] = rapid.Float64Range(0, 1).Draw(r, "wants")
			}
			plain = append(plain, shares[i].Share)
			wanted = append(wanted, hosts.Share{Weight: shares[i].Weight, Limit: max(1e-9, wants[i])})
		}
		for range 20 {
			for i, s := range parts(processors, shares, used, limits) {
				limits[i] = s.Limit
				used[i] = min(wants[i], s.Limit)
			}
		}
		entitled, best := make([]float64, n), make([]float64, n)
		hosts.Divide(processors, 0, plain, entitled)
		hosts.Divide(processors, 0, wanted, best)
		for i := range used {
			if used[i] < min(wants[i], entitled[i])-1e-9 {
				r.Errorf("%d is entitled to %v, wants %v and gets %v", i, entitled[i], wants[i], used[i])
			}
			// Each idle task may use a quarter more than before, plus 0.02.
			if slack := 0.25*processors + 0.02*float64(n); used[i] < best[i]-slack {
				r.Errorf("%d gets %v, and could %v", i, used[i], best[i])
			}
		}
	})
	got := parts(1.5, []linux.Share{{Name: "a", Share: hosts.Share{Weight: 3, Limit: 1}}, {Name: "b", Share: hosts.Share{Weight: 1, Limit: 1}}}, []float64{0, 0}, []float64{0, 0})
	if got[0].Limit != 1 || got[1].Limit != 0.5 {
		t.Errorf("of 1.5 processors they get %v and %v", got[0].Limit, got[1].Limit)
	}
	got = parts(1, []linux.Share{{Share: hosts.Share{Weight: 3}}, {Share: hosts.Share{Weight: 1}}}, []float64{0.1, 0.25}, []float64{0.75, 0.25})
	if got[0].Limit != 0.75 || math.Abs(got[1].Limit-(1-0.145)) > 1e-9 {
		t.Errorf("beside one that is idle: %v and %v", got[0].Limit, got[1].Limit)
	}
}
