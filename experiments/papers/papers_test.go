package papers_test

import (
	"math"
	"strings"
	"testing"

	"bourse/experiments/metrics"
	"bourse/experiments/papers"
	"bourse/experiments/papers/claims"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
)

// TestPresets checks that every preset is a scenario under its own name, has the sweep of
// its figure, and accepts a log in place of its model.
func TestPresets(t *testing.T) {
	t.Parallel()
	points := map[string]int{ // number of configurations that are run
		"paper": 4, "paper-low": 3, "paper-correlated": 2, "paper-reading": 4, "mixed": 2, "kth": 1, "spot-or-reserve": 2, "negotiation": 4, "adaptive": 7, "posted-or-auction": 4, "spot-or-ondemand": 3, "call-or-continuous": 4, "fairness": 1, "market-or-fairshare": 6, "windows-by-load": 1, "bundles": 4, "librarisk-figure1": 22, "librarisk-figure2": 20, "librarisk-figure3": 22, "librarisk-figure4": 22,
		"librasla-figure2": 24, "librasla-figure3": 24, "librasla-figure4": 24, "librasla-figure5": 24,
		"reservations-e1": 10, "reservations-e2": 8, "reservations-e3": 12, "reservations-e4": 4, "reservations-e5": 10,
		"reservations-e6": 15, "reservations-e7": 10, "reservations-e8": 2, "reservations-e9": 3, "reservations-e10": 10,
		"volunteers-figure1": 11, "volunteers-figure2": 42, "volunteers-models": 30, "volunteers-options": 16, "volunteers-pps": 1, "volunteers-guarantee": 5,
		"volunteers-promises": 24, "volunteers-models-pps": 5, "volunteers-models-promises": 36,
	}
	for name, data := range papers.Presets() {
		e, err := scenario.Parse(name, data, scenario.Known{})
		if err != nil {
			t.Error(err)
			continue
		}
		if got := len(e.Expanded().Configurations); e.Name != name || got != points[name] {
			t.Errorf("%s: called %s, %d points, want %d", name, e.Name, got, points[name])
		}
		if !strings.HasPrefix(name, "libra") {
			continue
		}
		e, err = scenario.Parse(name, data, scenario.Known{Log: "sp2.swf"})
		if err != nil {
			t.Error(err)
			continue
		}
		for _, c := range e.Expanded().Configurations {
			if c.Workload.SWF != "sp2.swf" || c.Workload.Model != nil || c.Workload.Filter == "" {
				t.Errorf("%s: %s runs %+v", name, c.Name, c.Workload)
			}
		}
	}
	if got := strings.Join(papers.Figures("librasla"), " "); got != "librasla-figure2 librasla-figure3 librasla-figure4 librasla-figure5" {
		t.Errorf("figures of librasla: %s", got)
	}
	for name := range papers.Presets() {
		if got := papers.Figures(name); got != nil {
			t.Errorf("the figures of %s, which is a preset of its own: %v", name, got)
		}
	}
	if papers.Figures("paper") != nil {
		t.Error("the market paper is several figures")
	}
}

// TestReferences checks that the printed numbers belong to runs of the named preset and apply
// only to that preset. The first paper in the table must supply the parts that another paper
// omits, and the reference of scenarios without a paper.
func TestReferences(t *testing.T) {
	t.Parallel()
	numbers := map[string]int{"paper": 32, "volunteers-figure1": 2}
	for name, data := range papers.Presets() {
		r := papers.Of(name)
		if len(r.Printed) != numbers[name] {
			t.Errorf("%s: %d numbers are printed, want %d", name, len(r.Printed), numbers[name])
		}
		if papers.OfModels(name) != strings.HasPrefix(name, "volunteers-models") {
			t.Errorf("%s is of models: %v", name, papers.OfModels(name))
		}
		e, err := scenario.Parse(name, data, scenario.Known{})
		if err != nil {
			t.Fatal(err)
		}
		run := map[string]bool{}
		for _, c := range e.Expanded().Configurations {
			for _, a := range c.Admission {
				run[c.Name+" "+a.Label] = true
			}
		}
		for _, p := range r.Printed {
			for _, c := range p.Configuration {
				for _, a := range p.Admission {
					if !run[c+" "+a] || p.Text == "" || p.Source == "" {
						t.Errorf("%s: it runs no %s under %s, or the number has no text or source", name, c, a)
					}
				}
			}
		}
	}
	first := papers.Of("paper")
	for _, name := range []string{"mine", "volunteers-figure1", "kth"} {
		r := papers.Of(name)
		if r.Figures == nil || len(r.Tests.Rows) != len(first.Tests.Rows) || len(r.Metrics) != len(first.Metrics) {
			t.Errorf("%s: %d tests of %d metrics, want those of the first paper, and its figures", name, len(r.Tests.Rows), len(r.Metrics))
		}
		if x, _ := r.Tests.T(0, "pareto-high"); x != nil {
			t.Errorf("%s: %v is printed beside its tests", name, *x)
		}
	}
	if x, ok := papers.Of("volunteers-figure1").Number("week@1", "threshold-6", "job_process_ratio"); !ok || x != 83.43 {
		t.Errorf("the peak of Figure 1 is %v, want 83.43", x)
	}
	if x, ok := first.Number("pareto-low", "sac", "demand_correlation"); ok {
		t.Errorf("%v is printed where a range is", x)
	}
}

// TestClaims checks that every claim is about metrics, configurations, policies and axes of
// a preset, and that the number of claims is the number counted in the papers.
func TestClaims(t *testing.T) {
	t.Parallel()
	parsed := map[string]scenario.Experiment{}
	measured := map[string]bool{"success_rate": true, "ks": true, "cv": true, "hurst": true, "correlation": true} // metrics that are measured on a log
	for _, name := range metrics.Table().Names() {
		measured[name] = true
	}
	counts := map[string]int{"market": 40, "librarisk": 23, "librasla": 13, "reservations": 9, "volunteers": 14}
	for _, p := range papers.Claims() {
		if len(p.Claims) != counts[p.Name] {
			t.Errorf("%s: %d claims, want %d", p.Name, len(p.Claims), counts[p.Name])
		}
		for _, m := range p.Metrics() {
			if !measured[m] {
				t.Errorf("%s: no metric %s", p.Name, m)
			}
		}
		for _, c := range p.Claims {
			for _, name := range c.Experiments() {
				if _, ok := parsed[name]; !ok && name != "blue-horizon" {
					e, err := scenario.Parse(name, papers.Presets()[name], scenario.Known{})
					if err != nil {
						t.Fatalf("%s %s: %v", p.Name, c.ID, err)
					}
					parsed[name] = e
				}
			}
		}
		// With one row for each metric and policy at each point, every claim must be
		// testable.
		var all []*claims.Results
		measures := p.Metrics()
		for _, e := range parsed {
			r := &claims.Results{Experiment: e.Name}
			for _, a := range e.Sweep {
				r.Axes = append(r.Axes, a.Name())
			}
			for _, c := range e.Expanded().Configurations {
				for _, a := range c.Admission {
					for _, m := range measures {
						for rep := range 3 {
							x := math.Sqrt(float64(rep + 1))
							r.Add(results.Metric{Configuration: c.Name, Admission: a.Label, Metric: m, Replication: rep, Value: &x})
						}
					}
				}
			}
			all = append(all, r)
		}
		for i, j := range claims.Judge(p, all) {
			if strings.Contains(j.Why, "no results of blue-horizon") {
				continue
			}
			if (j.Why != "") != (p.Claims[i].Untestable != "") && !strings.Contains(j.Why, "undefined") {
				t.Errorf("%s %s: %s", p.Name, j.ID, j.Why)
			}
		}
	}
}
