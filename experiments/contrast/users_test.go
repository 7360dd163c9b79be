package contrast

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"bourse/experiments/results"
)

// TestOwn checks that configurations are compared under different policies if each has its own
// policy, but not if they share a policy.
func TestOwn(t *testing.T) {
	t.Parallel()
	rows := func(policies ...string) (all []results.Metric) {
		for k, policy := range policies {
			for rep := range 5 {
				v := float64(k) + 0.01*float64(rep*k)
				all = append(all, results.Metric{Configuration: fmt.Sprint("c", k), Admission: policy, Replication: rep, Metric: "m", Value: &v})
			}
		}
		return all
	}
	ask := Ask{Metrics: []string{"m"}, Across: Configurations, Baseline: "c0"}
	got, err := Of(rows("a", "b", "c"), ask, nil)
	if err != nil || len(got) != 2 || got[0].Within != "all" || got[0].First != "c1" || got[0].Second != "c0" || got[0].Verdict != "higher" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = Of(rows("a", "b", "a"), ask, nil); err != nil || len(got) != 1 || got[0].Within != "a" || got[0].First != "c2" {
		t.Errorf("with a policy in common: %+v, %v", got, err)
	}
}

// TestGains checks the gains of two users. A job of ann worth $5 is done for $2. She pays $1
// for a job that is not done, and receives a penalty of $0.25. The job of bob is rejected.
func TestGains(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "r")
	w, err := results.Create(path, results.CSV, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := results.NewEncoder(results.CSV, nil)
	two, one, zero, back, yes, no := results.Money(2e6), results.Money(1e6), results.Money(0), results.Money(250_000), true, false
	for _, policy := range []string{"paid", "free"} {
		for rep := range 3 {
			price, dear := &two, &one
			if policy == "free" {
				price, dear = &zero, &zero
			}
			row := results.Job{Configuration: policy, Admission: policy, Replication: rep, Nodes: 1, Decision: "accept"}
			a, b, c := row, row, row
			a.Job, a.User, a.Value, a.Paid, a.Fulfilled, a.Penalty = "0", "10", 5e6, price, &yes, &zero
			b.Job, b.User, b.Value, b.Paid, b.Fulfilled, b.Penalty = "1", "10", 9e6, dear, &no, &back
			c.Job, c.User, c.Value, c.Decision = "2", "9", 7e6, "reject"
			err = errors.Join(err, out.Jobs([]results.Job{a, b, c}))
		}
	}
	block, wrong := out.Block()
	if err := errors.Join(err, wrong, w.Append(block), w.Close(results.Manifest{})); err != nil {
		t.Fatal(err)
	}
	d, err := results.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := Compare([]*results.Dir{d}, Ask{Users: true, Across: Configurations, Unsized: true})
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, r := range rows {
		said = append(said, fmt.Sprintf("%s: %s %v, %s %v", r.Within, r.First, *r.FirstMean, r.Second, *r.SecondMean))
	}
	if got, want := strings.Join(said, "; "), "user 9: paid 0, free 0; user 10: paid 2.25, free 5.25"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
