package verdicts_test

import (
	"strings"
	"testing"

	"bourse/experiments/contrast"
	"bourse/experiments/results"
	"bourse/experiments/verdicts"
)

var words = verdicts.Words{
	Of:    strings.ToUpper,
	Less:  func(metric string) bool { return metric == "violations" },
	Where: "configuration",
}

// of returns the findings about a metric whose values are given by configuration and
// policy.
func of(t *testing.T, metric string, values map[string]map[string][]float64, alike ...string) string {
	t.Helper()
	var rows []results.Metric
	for _, c := range []string{"low", "high"} {
		for _, a := range []string{"be", "sac", "cac"} {
			for rep, x := range values[c][a] {
				rows = append(rows, results.Metric{Configuration: c, Admission: a, Replication: rep, Metric: metric, Value: &x})
			}
		}
	}
	found, err := contrast.Of(rows, contrast.Ask{Metrics: []string{metric}, Across: contrast.Policies}, alike)
	if err != nil {
		t.Fatal(err)
	}
	return verdicts.Of(found, words)
}

// TestOf checks that a sentence agrees with the verdicts: the best policy if it is decided
// against every other, "undecided" if not, in the direction of the metric.
func TestOf(t *testing.T) {
	t.Parallel()
	apart := map[string][]float64{"be": {0.5, 0.6, 0.55, 0.61}, "sac": {0.2, 0.25, 0.21, 0.24}, "cac": {0, 0, 0, 0}}
	near := map[string][]float64{"be": {0.5, 0.6, 0.55, 0.61}, "sac": {0.1, 0, 0.1, 0}, "cac": {0.05, 0.04, 0, 0.1}}
	for _, c := range []struct {
		metric string
		values map[string]map[string][]float64
		alike  []string
		want   string
	}{
		{"violations", map[string]map[string][]float64{"low": apart, "high": apart}, nil, "VIOLATIONS: none in any replication under CAC; lowest under CAC in both configurations."},
		{"violations", map[string]map[string][]float64{"low": near, "high": apart}, nil, "VIOLATIONS: undecided between SAC and CAC in LOW; lowest under CAC in HIGH."},
		{"utilization", map[string]map[string][]float64{"low": near, "high": apart}, nil, "UTILIZATION: highest under BE in both configurations."},
		{"utilization", map[string]map[string][]float64{"high": {"be": {1, 2, 3}, "sac": {1, 2, 3}}}, nil, "UTILIZATION: the same under every policy."},
		{"utilization", map[string]map[string][]float64{"high": {"be": {1}, "sac": {2}}}, nil, "UTILIZATION: undecided between BE and SAC."},
		{"utilization", map[string]map[string][]float64{"high": {"be": {1, 1}, "sac": {2, 2}}}, []string{"high"}, "UTILIZATION: no sample: every replication has the same jobs on the same hosts."},
	} {
		if got := of(t, c.metric, c.values, c.alike...); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
