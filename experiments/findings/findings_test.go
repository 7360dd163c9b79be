package findings

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bourse/experiments/incentives"
	"bourse/experiments/report"
	"bourse/experiments/results"
)

// invented returns evidence of n replications of which of tells each value of a metric, apart
// from noise.
func invented(n int, noise float64, of func(part, configuration, policy, metric string) float64) *Evidence {
	rng := rand.New(rand.NewPCG(1, 0))
	e := &Evidence{Rows: make(map[string][]results.Metric), Lies: make(map[string]*incentives.Report), Labels: report.Labels{"be": "BE", "sac": "SAC", "cac": "CAC", "rac": "RAC"}}
	metrics := []string{"efficiency_0", "efficiency_1", "revenue", "violations", "rejections"}
	all := map[string][]string{
		"loads":       {"be", "sac", "cac", "rac"},
		"guarantee":   {"sac-60", "sac-90", "sac-99", "cac-60", "cac-90", "cac-99"},
		"negotiation": {"sac", "sac-rational", "sac-impatient", "cac", "cac-rational", "cac-impatient"},
		"forecasters": {"sac-price", "sac-share", "sac-learns"},
	}
	for _, part := range slices.Sorted(maps.Keys(all)) {
		configurations := []string{"low", "high", "twice"}
		if part == "forecasters" {
			configurations = []string{"normal", "chebyshev"}
		}
		for _, c := range configurations {
			for _, p := range all[part] {
				for _, m := range metrics {
					for rep := range n {
						x := of(part, c, p, m) + noise*rng.NormFloat64()
						e.Rows[part] = append(e.Rows[part], results.Metric{Configuration: c, Admission: p, Replication: rep, Metric: m, Value: &x})
					}
				}
			}
		}
	}
	for _, part := range []string{"lies-high", "lies-low"} {
		r := &incentives.Report{Epsilon: 1}
		var trials []incentives.Trial
		for range n {
			x := of(part, "", "", "gain") + noise*rng.NormFloat64()
			answer := incentives.Answer{Plays: []incentives.Deviation{{Kind: "value", By: 2}}, Rounds: 2, Settled: true, Outcome: incentives.Outcome{Worth: 80 + x}}
			trials = append(trials, incentives.Trial{
				Truth: incentives.Outcome{Worth: 80}, Gains: []incentives.Gain{{User: 1, By: []float64{x}}}, Answer: &answer, Best: 100, Proven: true,
			})
		}
		r.Sum([]incentives.Found{{Configuration: "high", Policy: "be", Trials: trials}}, []incentives.Deviation{{Kind: "value", By: 2}})
		e.Lies[part] = r
	}
	return e
}

// sentences returns what is found of each question.
func sentences(t *testing.T, e *Evidence) map[string]string {
	t.Helper()
	p, err := Find(e)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for _, f := range p.Findings {
		all[f.Name] = strings.Join(f.Sentences, "\n")
	}
	return all
}

// TestSentences checks that sentences say what differences say: which is more, by how much,
// and that it cannot be told where it cannot.
func TestSentences(t *testing.T) {
	t.Parallel()
	at := map[string]float64{"be": 0.3, "sac": 0.5, "cac": 0.7, "rac": 0.2, "sac-rational": 0.6, "cac-impatient": 0.6, "sac-99": 0.55, "sac-60": 0.5, "sac-90": 0.5, "cac-60": 0.5, "cac-90": 0.5, "cac-99": 0.5}
	value := func(part, configuration, policy, metric string) float64 {
		switch {
		case metric == "gain":
			return -5
		case part == "forecasters" && configuration == "normal":
			return 0.3
		case part == "forecasters":
			return 0.02
		case part == "negotiation" && at[policy] == 0:
			return at[policy[:3]]
		}
		return at[policy]
	}
	said := sentences(t, invented(50, 0.01, value))
	for name, wants := range map[string][]string{
		"inelastic":         {"At high load users have most under CAC, ", "more than under SAC", "more than under BE and ", "more than under RAC."},
		"negotiation-users": {"At low load under SAC, where rational users hear offers, utility is ", "higher", "under CAC, where impatient users hear offers, utility is", "lower", "with and without them cannot be told apart (difference"},
		"forecasters":       {"by the price of a processor, keeps its promise with chebyshev (", "breaks it with normal (3", " %"},
		"guarantee":         {"Under SAC a guarantee of 99 % in place of 60 % means broken promises ", " points", "higher", "Under CAC a guarantee of 90 % in place of 60 % means broken promises that cannot be told apart"},
		"lies-high":         {"Under BE no lie gains on average; 1 lies lose"},
		"anarchy":           {"settle in 50 of 50 markets", "where they end the price of anarchy is 1.3", "in truth 1.25", "lies cost all 5"},
	} {
		got := said[name]
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s: found no %q in\n%s", name, want, got)
			}
		}
	}
	// The same numbers in so much noise tell nothing.
	doubtful := sentences(t, invented(4, 40, value))
	for _, name := range []string{"inelastic", "elastic", "revenue", "negotiation-provider", "guarantee", "lies-low", "anarchy"} {
		if got := doubtful[name]; !strings.Contains(got, "cannot be told") {
			t.Errorf("%s of noise: %s", name, got)
		}
	}
	for policy := range at { // all the same
		at[policy] = 0.5
	}
	if got := sentences(t, invented(50, 0, value))["negotiation-users"]; !strings.Contains(got, "utility is the same") {
		t.Errorf("of what is the same: %s", got)
	}
}

// TestFamilies checks that the intervals of a finding hold at once in 95 of 100 studies, or
// more, but for what so many leave to chance (3 standard errors), where no policy differs: and
// so no sentence says that one does.
func TestFamilies(t *testing.T) {
	t.Parallel()
	const studies, seed = 200, 1
	policies := []string{"be", "sac", "cac", "rac"}
	var pairs []pair
	for i, first := range policies {
		for _, second := range policies[i+1:] {
			pairs = append(pairs, pair{"low", first, second}, pair{"high", first, second})
		}
	}
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	wrong := 0
	for range studies {
		e := &Evidence{Rows: map[string][]results.Metric{}}
		for _, c := range []string{"low", "high"} {
			for _, p := range policies {
				for rep := range 20 {
					x := rng.NormFloat64()
					e.Rows["loads"] = append(e.Rows["loads"], results.Metric{Configuration: c, Admission: p, Replication: rep, Metric: "revenue", Value: &x})
				}
			}
		}
		all, err := e.compare("loads", []string{"revenue"}, pairs, len(pairs))
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(all, func(c Comparison) bool { return c.Verdict != untold }) {
			wrong++
		}
	}
	if most := 0.05*studies + 3*math.Sqrt(0.05*0.95*studies); float64(wrong) > most {
		t.Errorf("%d of %d studies tell a difference where there is none", wrong, studies)
	}
}

// TestFrom checks that a comparison told by the other one says the same.
func TestFrom(t *testing.T) {
	t.Parallel()
	lo, hi, n := 0.5, 1.5, 7
	c := Comparison{Metric: "revenue", First: "a", Second: "b", FirstMean: 3, SecondMean: 2, Difference: 1, Lo: &lo, Hi: &hi, Needed: &n, Verdict: higher}
	other := c.from("b")
	if other.Difference != -1 || *other.Lo != -1.5 || *other.Hi != -0.5 || other.Verdict != lower || other.FirstMean != 2 || *other.Needed != 7 {
		t.Errorf("from the other: %+v", other)
	}
	if other.apart() != c.apart() || c.apart() != "$1.00 [0.500, 1.50]" {
		t.Errorf("apart %s and %s", other.apart(), c.apart())
	}
	if back := other.from("a"); back.Verdict != higher || back.Difference != 1 || *back.Hi != 1.5 {
		t.Errorf("and back: %+v", back)
	}
}

// TestParts checks that all that findings rest on is run, that nothing else is, and that what
// was not run is said.
func TestParts(t *testing.T) {
	t.Parallel()
	rests := make(map[string]bool)
	for _, f := range table {
		for _, p := range f.parts {
			rests[p] = true
		}
	}
	run := make(map[string]bool)
	seeds := make(map[uint64]bool)
	parts, err := Parts([]string{"normal", "empirical"})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		run[p.Name] = true
		if seeds[p.Seed] || p.On() == "" {
			t.Errorf("%s: seed %d, for %q", p.Name, p.Seed, p.On())
		}
		seeds[p.Seed] = true
		if p.Name == "forecasters" && strings.Index(string(p.Scenario), "{name: empirical,") > strings.Index(string(p.Scenario), "{name: normal,") {
			t.Errorf("%s", p.Scenario)
		}
	}
	if !maps.Equal(rests, run) {
		t.Errorf("run is %v, want %v", run, rests)
	}
	if len(table) != 10 {
		t.Errorf("%d findings", len(table))
	}
	if some, err := Parts(nil, "revenue", "elastic"); err != nil || len(some) != 1 || some[0].Name != "loads" {
		t.Errorf("revenue rests on %v, %v", some, err)
	}
	if _, err := Parts(nil, "profit"); err == nil || !strings.Contains(err.Error(), `found "profit", want one of lies-high, `) {
		t.Errorf("of profit: %v", err)
	}
	if _, err := Find(new(Evidence)); err == nil || !strings.Contains(err.Error(), "part lies-high has not been run") {
		t.Errorf("of nothing: %v", err)
	}
}

// What a study finds, in sentences.
func Example() {
	e := invented(50, 0.01, func(part, _, policy, metric string) float64 {
		if part == "forecasters" && metric == "violations" {
			return 0.2
		}
		return map[string]float64{"cac": 0.7}[policy]
	})
	p, err := Find(e)
	if err != nil {
		fmt.Println(err)
		return
	}
	f := p.Findings[5]
	fmt.Println(f.Question)
	fmt.Println(f.Comparisons[0].First, f.Comparisons[0].Verdict, "than", f.Comparisons[0].Second)
	// Output:
	// Which forecaster keeps its promise?
	// normal higher than promised
}
