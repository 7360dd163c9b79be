package study

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"bourse/experiments"
	"bourse/experiments/metrics"
	"bourse/experiments/report"
	"bourse/experiments/scenario"
)

// searched is a scenario with settings of a provider, few jobs and a high load.
func searched(t *testing.T, over ...string) *scenario.Experiment {
	t.Helper()
	known := experiments.Known()
	for _, text := range over {
		axis, err := scenario.Over(text)
		if err != nil {
			t.Fatal(err)
		}
		known.Over = append(known.Over, axis)
	}
	e, err := scenario.Parse("searched.yaml", []byte(`
name: searched
seed: 5
base:
  fleet: {hosts: 6}
  workload: {model: {name: paper, jobs: 12, users: 3, iat: {min: 10, mean: 40}, nodes: {min: 2, max: 5}}}
  admission: [be, {name: cac, label: strict}, {name: partition}]
configurations: [{name: one}, {name: other, workload: {model: {iat: {mean: 50}}}}]
`), known)
	if err != nil {
		t.Fatal(err)
	}
	return &e
}

// TestTune checks that a search finds the settings of every policy, and counts points that
// do not affect a policy as one. Its measurements must be those of a normal run,
// independent of the number of workers, and an interrupted search must resume to the same
// result.
func TestTune(t *testing.T) {
	t.Parallel()
	e := searched(t, "admission.strict.guarantee=0.3,0.9", "fleet.hosts=5..7/1")
	ask := TuneAsk{Goal: Goal{Metric: "welfare", Configuration: "other", Budget: 9 * 60}, Policies: []string{"be", "strict"}}
	found, err := Tune(context.Background(), e, ask, experiments.Options{Workers: 3})
	if err != nil {
		t.Fatal(err)
	}
	var settings []string
	for _, s := range found.Settings {
		settings = append(settings, s.Policy+" "+strings.Join(s.At, ","))
	}
	want := "be ,5; be ,6; be ,7; strict 0.3,5; strict 0.3,6; strict 0.3,7; strict 0.9,5; strict 0.9,6; strict 0.9,7"
	if got := strings.Join(settings, "; "); got != want {
		t.Fatalf("settings %s, want %s", got, want)
	}

	x := e.Expanded()
	x.Replications = 5
	p, err := experiments.Prepare(&x)
	if err != nil {
		t.Fatal(err)
	}
	var raw struct{ Values [][]float64 }
	if err := json.Unmarshal(found.Known, &raw); err != nil {
		t.Fatal(err)
	}
	checked := 0
	err = p.Each(context.Background(), experiments.Options{}, func(r *experiments.Replication) error {
		for k, run := range r.Runs {
			for arm, s := range found.Settings {
				at := "other@" + strings.Join(s.At, ",")
				if s.Policy == "be" {
					at = "other@0.9" + strings.Join(s.At, ",")
				}
				c := x.Configurations[r.Configuration]
				if c.Name != at || c.Admission[k].Label != s.Policy {
					continue
				}
				want, _ := metrics.Welfare.Of(&run.Outcome)
				if got := raw.Values[arm][r.Rep]; got != want {
					t.Errorf("%s under %s, replication %d: welfare %v, want %v", at, s.Policy, r.Rep, got, want)
				}
				checked++
			}
		}
		return nil
	})
	if err != nil || checked != 9*5 {
		t.Errorf("%d runs compared, want 45: %v", checked, err)
	}

	one, err := Tune(context.Background(), e, ask, experiments.Options{})
	if err != nil || !alikeReports(one, found) {
		t.Errorf("with one worker something else is found than with three: %v", err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	broken, err := Tune(ctx, e, ask, experiments.Options{Workers: 2, Progress: func(spent, _ int) {
		if spent > 9*20 {
			cancel()
		}
	}})
	if err != nil || broken.Stop != Interrupted || broken.Spent >= found.Spent {
		t.Fatalf("broken off: %v, %+v", err, broken)
	}
	ask.Known = broken.Known
	if on, err := Tune(context.Background(), e, ask, experiments.Options{}); err != nil || !alikeReports(on, found) {
		t.Errorf("broken off and gone on with, something else is found: %v", err)
	}
	ask.Metric = "revenue"
	if _, err := Tune(context.Background(), e, ask, experiments.Options{}); err == nil || !strings.Contains(err.Error(), "of other settings, of another metric") {
		t.Errorf("replications of another metric: %v", err)
	}
}

// alikeReports reports whether two reports are the same.
func alikeReports(a, b *Tuned) bool {
	return a.Document().Text(report.Terminal{}) == b.Document().Text(report.Terminal{}) && string(a.Known) == string(b.Known)
}

// TestTuneSmooth checks that a golden-section search runs only some settings, and finds one
// that a search over all settings does not distinguish from its best.
func TestTuneSmooth(t *testing.T) {
	t.Parallel()
	e := searched(t, "fleet.hosts=2..20/1")
	ask := TuneAsk{Goal: Goal{Metric: "violations", Least: true, Configuration: "one", Smooth: true, Within: 0.02}, Policies: []string{"be"}}
	found, err := Tune(context.Background(), e, ask, experiments.Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	skipped := 0
	for _, s := range found.Settings {
		if s.N == 0 {
			skipped++
		}
	}
	most := float64(found.Settings[found.Best].Mean)
	for _, s := range found.Settings {
		if m := float64(s.Mean); !math.IsNaN(m) && m < most && s.Kept {
			t.Errorf("%v hosts are kept and have fewer violations, %v, than the best, %v", s.At, m, most)
		}
	}
	if hosts, err := strconv.Atoi(found.Settings[found.Best].At[0]); skipped < 3 || err != nil || hosts < 5 {
		t.Errorf("%d settings were not run, and %d hosts are best: want 3 skipped at least, and 5 hosts", skipped, hosts)
	}
}

// TestTuneRefuses checks the errors for invalid searches.
func TestTuneRefuses(t *testing.T) {
	t.Parallel()
	g := "admission.strict.guarantee=0.3,0.9"
	for _, c := range []struct {
		ask  TuneAsk
		over []string
		want string
	}{
		{TuneAsk{Goal: Goal{Metric: "wellfare", Configuration: "one"}}, nil, "metric: unknown metric"},
		{TuneAsk{Goal: Goal{Metric: "welfare"}}, nil, `configuration: found none, want one of one, other`},
		{TuneAsk{Goal: Goal{Metric: "welfare", Configuration: "one"}, Policies: []string{"sac"}}, nil, `policies: found "sac", want one of be, strict, partition`},
		{TuneAsk{Goal: Goal{Metric: "welfare", Configuration: "one", Budget: 5}}, []string{g}, "budget: found 5, want at least 20, which is 10 for each of 2 settings"},
		{TuneAsk{Goal: Goal{Metric: "welfare", Configuration: "one", Within: -1}}, []string{g}, "within: found -1"},
		{TuneAsk{Goal: Goal{Metric: "welfare", Configuration: "one", Smooth: true}}, []string{"fleet.hosts=4,5"}, "smooth: found 3 from policies and 1 from axes"},
		{TuneAsk{Goal: Goal{Metric: "demand_correlation", Configuration: "one"}}, []string{g}, "metric: demand_correlation is undefined under strict 0.3"},
		{TuneAsk{Goal: Goal{Metric: "welfare", Configuration: "one"}, Known: []byte("x")}, []string{g}, "replications.json: not a result of a search"},
	} {
		_, err := Tune(context.Background(), searched(t, c.over...), c.ask, experiments.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v over %v: %v, want %s", c.ask, c.over, err, c.want)
		}
	}
}
