//go:build linux

package linux

import (
	"math"
	"testing"

	"bourse/hosts"
)

// TestSettle checks on a model machine that the delivered processor time is divided as by
// hosts.Divide, on one processor and on two, whether the machine delivers all of its time or
// half. Limits are respected, and other groups get the time slices of a group that waits for a
// disk.
func TestSettle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		cpus      float64
		delivered float64 // of each processor
		shares    []hosts.Share
		sleeps    int // group that does not use its time slices; -1 if none
		want      []float64
	}{
		{"3:1:1", 1, 1, []hosts.Share{{Weight: 3}, {Weight: 1}, {Weight: 1}}, -1, []float64{.6, .2, .2}},
		{"a busy box", 1, 0.5, []hosts.Share{{Weight: 3}, {Weight: 1}, {Weight: 1}}, -1, []float64{.3, .1, .1}},
		{"two processors", 2, 1, []hosts.Share{{Weight: 2}, {Weight: 1}, {Weight: 1}}, -1, []float64{1, .5, .5}},
		{"one and a half", 1.5, 1, []hosts.Share{{Weight: 1}, {Weight: 1}, {Weight: 1}}, -1, []float64{.5, .5, .5}},
		{"a limit", 2, 1, []hosts.Share{{Weight: 1, Limit: 0.25}, {Weight: 1}}, -1, []float64{.25, 1}},
		{"a disk", 1, 1, []hosts.Share{{Weight: 3}, {Weight: 1}}, 0, []float64{0, 1}},
	} {
		d := scheduler{processors: c.cpus}
		claims := make([]*claim, len(c.shares))
		for i := range claims {
			claims[i] = &claim{share: c.shares[i]}
		}
		const turns, dt = 3000, 0.1
		got := make([]float64, len(claims))
		for range turns {
			n := 0.0
			for i, k := range claims {
				k.used = 0
				if k.runs && i != c.sleeps {
					n++
				}
			}
			for i, k := range claims {
				if k.runs && i != c.sleeps { // one thread each
					k.used = c.delivered * dt * min(1, math.Ceil(c.cpus)/n)
					got[i] += k.used / (turns * dt)
				}
			}
			d.settle(dt, claims)
		}
		for i := range got {
			if !(math.Abs(got[i]-c.want[i]) <= 0.01) {
				t.Errorf("%s: got %.3f, want %v", c.name, got, c.want)
				break
			}
		}
	}
}

// TestWeigh checks the weights of both versions: they are proportional to the largest, and none
// is below the kernel's minimum.
func TestWeigh(t *testing.T) {
	t.Parallel()
	shares := []Share{{"a", hosts.Share{Weight: 3e-3}}, {"b", hosts.Share{Weight: 1e-3}}, {"c", hosts.Share{Weight: 1e-12}}, {"d", hosts.Share{}}}
	for _, l := range []struct {
		layout
		want [4]int
	}{{cgroup1{}, [4]int{262144, 87381, 2, 2}}, {cgroup2{}, [4]int{10000, 3333, 1, 1}}} {
		least, most := l.weights()
		var got [4]int
		weigh(shares, least, most, func(i, w int) error { got[i] = w; return nil })
		if got != l.want {
			t.Errorf("%s: %v, want %v", l.Kind(), got, l.want)
		}
	}
	for _, c := range []struct {
		limit, cpus float64
		want        int
	}{{0, 2, 0}, {2, 2, 0}, {3, 2, 0}, {0.5, 2, 50_000}, {1.25, 2, 125_000}, {1e-6, 2, 1000}} {
		if got := quota(c.limit, c.cpus); got != c.want {
			t.Errorf("a limit of %v of %v is a quota of %d, want %d", c.limit, c.cpus, got, c.want)
		}
	}
}
