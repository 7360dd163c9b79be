package market_test

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bourse/experiments/papers/market"
	"bourse/experiments/report"
	"bourse/experiments/results"
)

// invented returns made-up rows in the form that the paper's figures need.
func invented() (summary []results.Summary, curve []results.Point) {
	level := map[string]float64{"pareto-low": 0.1, "pareto-high": 0.6, "equal-high": 0.45, "normal-high": 0.65}
	lift := map[string]float64{"be": 1, "sac": 0.6, "cac": 0.01, "rac": 0.7}
	for _, c := range []string{"pareto-low", "pareto-high", "equal-high", "normal-high"} {
		for _, a := range []string{"be", "sac", "cac", "rac"} {
			if a == "rac" && c != "pareto-high" {
				continue
			}
			rejected := 0.6 * level[c] * (1 - lift[a])
			add := func(metric string, mean float64) {
				sd := 0.15 * math.Sqrt(max(0, mean*(1-mean)))
				summary = append(summary, results.Summary{Configuration: c, Admission: a, Metric: metric, N: 5,
					Mean: &mean, SD: &sd, Lo95: new(mean - 1.24*sd), Hi95: new(mean + 1.24*sd)})
			}
			add("violations", level[c]*lift[a])
			add("rejections", rejected)
			add("utilization", 0.3+0.4*level[c])
			if a != "be" {
				add("demand_correlation", 0.6+0.2*lift[a])
			}
			for i := range 11 {
				alpha := float64(i) / 10
				mean := 0.9 - 0.2*level[c] - rejected*0.3 - alpha*lift[a]*level[c]
				sd := 0.05 + 0.03*alpha
				curve = append(curve, results.Point{Configuration: c, Admission: a, Alpha: alpha, N: 5,
					Mean: &mean, SD: &sd, Lo95: new(mean - 1.24*sd), Hi95: new(mean + 1.24*sd)})
			}
		}
	}
	return summary, curve
}

var rewrite = flag.Bool("rewrite", false, "rewrite testdata")

// TestFigures checks the numbers and the text of the three figures. A policy must have the
// same colour in all, RAC must be only in the third, and parts without measurements must be
// omitted.
func TestFigures(t *testing.T) {
	t.Parallel()
	l := report.Labels{"be": "BE", "sac": "SAC", "cac": "CAC", "rac": "RAC"}
	summary, curve := invented()
	figures := market.Figures(l, summary, curve)
	if len(figures) != 3 {
		t.Fatalf("%d figures, want 3", len(figures))
	}
	for _, f := range figures {
		if got := strings.Join(f.Order, " "); got != "BE SAC CAC RAC" {
			t.Errorf("%s has colours for %s", f.Name, got)
		}
		for name, got := range map[string][]byte{f.Name + ".csv": f.CSV(), f.Name + ".txt": []byte(f.Text(report.Terminal{UTF8: true, Width: 80}))} {
			path := filepath.Join("testdata", name)
			if *rewrite {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %v, got\n%s\nwant\n%s", name, err, got, want)
			}
		}
	}
	if f := market.Figures(l, nil, curve); len(f) != 1 || f[0].Name != "figure2" {
		t.Errorf("%d figures of a curve alone, want figure 2", len(f))
	}
}
