package scenario

import "testing"

// TestDiffer checks that the first different field is named by its path.
func TestDiffer(t *testing.T) {
	t.Parallel()
	base := parse(t, one)
	for _, c := range []struct{ set, want string }{
		{"seed=1", ""},
		{"replications=70", ""},
		{"seed=2", "seed: 1, 2"},
		{"configurations.low.fleet.hosts=9", "configurations.low.fleet.hosts: 15, 9"},
		{"configurations.low.admission=[be]", "configurations.low.admission: a list of 2, a list of 1"},
		{"configurations.low.admission=[be, cac]", "configurations.low.admission[1]: sac, cac"},
		{"configurations.low.workload.model.jobs=7", "configurations.low.workload.model: paper, paper {jobs}"},
		{"configurations.low.horizon=70", "configurations.low.horizon: nothing, 70"},
	} {
		other := parse(t, one, c.set)
		got := ""
		if d := Differ(&base, &other, "replications"); d != nil {
			got = d.Field + ": " + d.One + ", " + d.Other
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.set, got, c.want)
		}
	}
}
