package workloadgen

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// recorded is a plan of five users over ten days, each job of a length of its own.
func recorded() Plan {
	var p Plan
	for i := range 50 {
		p = append(p, Job{ID: int64(i) + 100, User: int64(i % 5), Arrival: 1000 + float64(i)*86400/5, Runtime: float64(i) + 1, Estimate: 100, Deadline: 1000, Nodes: 1})
	}
	return p
}

// TestResample checks that users are drawn with all of their jobs as they came, and blocks
// with all that arrive in them where the block is put; that plans are in order; and that
// something is drawn twice.
func TestResample(t *testing.T) {
	t.Parallel()
	const seed = 3
	p := recorded()
	before := slices.Clone(p)
	rng := rand.New(rand.NewPCG(seed, 0))
	twice := map[string]bool{}
	for range 20 {
		for _, r := range []Resample{{By: "user"}, {By: "block", Length: 86400}} {
			out, err := r.Apply(p, rng)
			if err != nil {
				t.Fatal(err)
			}
			if err := out.Validate(); err != nil {
				t.Fatalf("seed %d, %s: %v", seed, r.By, err)
			}
			parts := map[int64]Plan{}
			for _, j := range out {
				part := j.User
				if r.By == "block" {
					part = int64((j.Arrival - 1000) / 86400)
				}
				parts[part] = append(parts[part], j)
			}
			seen := map[float64]int{}
			for part, own := range parts {
				seen[own[0].Runtime]++
				for k, j := range own {
					i := int(j.Runtime) - 1 // where it was recorded
					if want := int(own[0].Runtime) - 1; r.By == "user" && (i != want+5*k || j.Arrival != p[i].Arrival) || r.By == "block" && i != want+k {
						t.Fatalf("seed %d, %s: job %d of part %d was number %d, after %d", seed, r.By, k, part, i, want)
					}
				}
				if n := map[string]int{"user": 10, "block": 5}[r.By]; len(own) != n {
					t.Errorf("%s: a part of %d jobs, want %d", r.By, len(own), n)
				}
			}
			for _, n := range seen {
				twice[r.By] = twice[r.By] || n > 1
			}
			if want := map[string]int{"user": 5, "block": 10}[r.By]; len(parts) != want {
				t.Errorf("%s: %d parts, want %d", r.By, len(parts), want)
			}
		}
	}
	if !twice["user"] || !twice["block"] || !slices.Equal(p, before) {
		t.Errorf("seed %d: drawn twice %v; the plan itself unchanged: %v", seed, twice, slices.Equal(p, before))
	}
	for want, r := range map[string]Resample{"found 1 users": {By: "user"}, "less than a block of 604800 s": {By: "block"}} {
		if _, err := r.Apply(p[:1], rng); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
