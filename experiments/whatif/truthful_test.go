package whatif

import (
	"strings"
	"testing"

	"bourse/experiments"
	"bourse/experiments/scenario"
)

// oneShot is a market at which twelve users with one job each arrive at once.
const oneShot = `
name: one-shot
replications: 40
base:
  workload:
    model: {name: paper, jobs: 12, users: 12, nodes: {min: 1, max: 8}}
    annotate: {delay: 0, value: pareto, price: 0.001}
    funds: 1000
  sla: {deadline: hard, slack: 4, of: runtime}
  fleet: FLEET
  market: MARKET
  admission: [ADMISSION]
configurations: [{name: single}]
`

// TestBundlesAreTruthful checks that no user gains a micro-dollar by misreporting a value if
// bundles are sold once, by VCG or greedily. It also checks that the study finds gains in a
// market in which they exist: a spot market whose winners pay the lowest winning bid.
func TestBundlesAreTruthful(t *testing.T) {
	t.Parallel()
	gainers := func(fleet, market, admission string) (fraction float64) {
		file := strings.NewReplacer("FLEET", fleet, "MARKET", market, "ADMISSION", admission).Replace(oneShot)
		e, err := scenario.Parse("one-shot.yaml", []byte(file), experiments.Known())
		if err != nil {
			t.Fatal(err)
		}
		r, err := Incentives(t.Context(), &e, Deviations{Deviations: []Deviation{{"value", 0.5}, {"value", 2}}, Alpha: 1, Epsilon: 1e-6, Users: 12})
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range r.Gains {
			if g.Users != 480 {
				t.Errorf("%s: %d users, want 480", g.Deviation, g.Users)
			}
			fraction = max(fraction, g.Share.Value)
		}
		return fraction
	}
	const planned = "{sharing: planned, payment: budget}"
	for _, rule := range []string{"vcg", "greedy"} {
		if p := gainers("{hosts: 1, cpus: 8}", planned, "{name: bundle, losers: leave, rule: "+rule+"}"); p != 0 {
			t.Errorf("%s: a fraction of %v of the users gain, want none", rule, p)
		}
	}
	if p := gainers("{hosts: 8, cpus: 1}", "{sharing: exclusive, payment: bid}", "{name: spot, k: 1, losers: leave}"); p < 0.02 {
		t.Errorf("spot: a fraction of %v of the users gain, want some", p)
	}
}
