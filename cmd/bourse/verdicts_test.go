package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestVerdicts recomputes ten verdicts on the market paper from metrics.csv with Student's
// intervals only. It compares the verdicts with those of 'paper claims'.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "paper")
	verdicts, tested := claimsOf(t, out, 1, 60)
	f, err := os.Open(filepath.Join(out, "metrics.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string][]float64{}
	for _, r := range rows[1:] {
		x, err := strconv.ParseFloat(r[4], 64)
		if err != nil {
			x = math.NaN()
		}
		key := r[0] + " " + r[1] + " " + r[3]
		values[key] = append(values[key], x)
	}
	// A sum is a sum of metrics. Each term has a sign, a configuration, a policy and a metric.
	// The mean of the sum must be above lo and below hi.
	type sum struct {
		terms  string
		lo, hi float64
	}
	inf := math.Inf(1)
	high := []string{"pareto-high", "normal-high"}
	var equal, decline []sum
	for _, c := range high {
		for _, p := range []string{"be", "sac"} {
			equal = append(equal, sum{fmt.Sprintf("+ %s %s violations - equal-high %s violations", c, p, p), 0, inf})
			decline = append(decline, sum{fmt.Sprintf("+ %s %s efficiency_1 - %s %s efficiency_0 - equal-high %s efficiency_1 + equal-high %s efficiency_0", c, p, c, p, p, p), -inf, 0})
		}
	}
	for id, sums := range map[string][]sum{
		"4":  equal,
		"9":  {{"+ pareto-low sac rejections - pareto-high sac rejections", -inf, 0}, {"+ pareto-low cac rejections - pareto-high cac rejections", -inf, 0}},
		"13": {{"+ pareto-high be efficiency_1 - pareto-high be efficiency_0", -inf, -0.2}, {"+ normal-high be efficiency_1 - normal-high be efficiency_0", -inf, -0.2}},
		"16": decline,
		"17": {{"+ pareto-high rac violations - pareto-high cac violations", 0.1, inf}, {"+ pareto-high rac rejections - pareto-high cac rejections", -0.085, 0.085}},
		"18": {{"+ pareto-high rac utilization - pareto-high cac utilization", -0.1, 0.1}, {"+ pareto-high rac demand_correlation - pareto-high cac demand_correlation", -0.1, 0.1}},
		"19": {
			{"+ pareto-high rac efficiency_0 - pareto-high sac efficiency_0", -inf, 0}, {"+ pareto-high rac efficiency_1 - pareto-high sac efficiency_1", -inf, 0},
			{"+ pareto-high rac efficiency_0 - pareto-high cac efficiency_0", -inf, 0}, {"+ pareto-high rac efficiency_1 - pareto-high cac efficiency_1", -inf, 0},
		},
		"22-curves": {
			{"+ pareto-low cac efficiency_1 - pareto-low be efficiency_1", -inf, 0}, {"+ pareto-high cac efficiency_1 - pareto-high be efficiency_1", 0, inf},
			{"+ equal-high cac efficiency_1 - equal-high be efficiency_1", 0, inf}, {"+ normal-high cac efficiency_1 - normal-high be efficiency_1", 0, inf},
		},
		"25": {{"+ pareto-high be violations - pareto-high cac violations - pareto-high cac rejections + pareto-high be rejections", 0, inf}},
		"29": {
			{"+ pareto-low be efficiency_0.5 - pareto-low cac efficiency_0.5", -0.025, inf}, {"+ pareto-high cac efficiency_0.5 - pareto-high be efficiency_0.5", 0.1, inf},
			{"+ pareto-high cac efficiency_1 - pareto-high be efficiency_1", 0, inf}, {"+ pareto-high be efficiency_0 - pareto-high cac efficiency_0", 0, inf},
		},
	} {
		alpha := 0.05 / float64(tested)
		inside, outside := true, false
		for _, s := range sums {
			words := bytes.Fields([]byte(s.terms))
			var xs []float64
			for i := 0; i < len(words); i += 4 {
				ys := values[fmt.Sprintf("%s %s %s", words[i+1], words[i+2], words[i+3])]
				if len(ys) != 60 {
					t.Fatalf("%s: %d values, want 60", words[i+1:i+4], len(ys))
				}
				if xs == nil {
					xs = make([]float64, len(ys))
				}
				for k, y := range ys {
					xs[k] += map[string]float64{"+": y, "-": -y}[string(words[i])]
				}
			}
			n, mean, squares := float64(len(xs)), 0.0, 0.0
			for _, x := range xs {
				mean += x / n
			}
			for _, x := range xs {
				squares += (x - mean) * (x - mean)
			}
			reach := func(alpha float64) float64 {
				return distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(1-alpha/2) * math.Sqrt(squares/(n-1)/n)
			}
			inside = inside && s.lo < mean-reach(alpha) && mean+reach(alpha) < s.hi
			each := alpha / float64(len(sums))
			outside = outside || mean+reach(each) < s.lo || mean-reach(each) > s.hi
		}
		want := map[bool]string{true: "SUPPORTED", false: map[bool]string{true: "CONTRADICTED", false: "UNDECIDED"}[outside]}[inside]
		if got := verdicts[id]; got != want {
			t.Errorf("claim %s: %s, want %s", id, got, want)
		}
	}
}

// TestSeeds checks that no verdict is SUPPORTED for one of twenty seeds and CONTRADICTED
// for another. Without BOURSE_CI=1, it tries three seeds.
func TestSeeds(t *testing.T) {
	t.Parallel()
	seeds := uint64(20)
	if os.Getenv("BOURSE_CI") == "" {
		seeds = 3
	}
	first := map[string]string{}
	for seed := range seeds {
		verdicts, _ := claimsOf(t, filepath.Join(t.TempDir(), "paper"), seed+1, 60)
		for id, v := range verdicts {
			switch was := first[id]; {
			case v != "SUPPORTED" && v != "CONTRADICTED":
			case was == "":
				first[id] = v
			case was != v:
				t.Errorf("seed %d: claim %s is %s, and %s under an earlier seed", seed+1, id, v, was)
			}
		}
	}
}

// claimsOf runs the preset paper into out. It returns the verdicts on the claims and the
// number of claims with rows.
func claimsOf(t *testing.T, out string, seed uint64, replications int) (verdicts map[string]string, tested int) {
	t.Helper()
	var text, errs bytes.Buffer
	args := []string{"bourse", "run", "--preset", "paper", "--quiet", "--no-progress", "--out", out, "--set", "seed=" + strconv.FormatUint(seed, 10), "--replications", strconv.Itoa(replications)}
	if status := run(t.Context(), args, nil, io.Discard, &errs); status != 0 {
		t.Fatalf("%q: status %d: %s", args, status, &errs)
	}
	if status := run(t.Context(), []string{"bourse", "paper", "claims", out, "--json"}, nil, &text, &errs); status != 0 {
		t.Fatalf("status %d: %s", status, &errs)
	}
	var all []struct {
		Claims []struct {
			ID      string `json:"id"`
			Verdict string `json:"verdict"`
		} `json:"claims"`
	}
	if err := json.Unmarshal(text.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	verdicts = map[string]string{}
	for _, c := range all[0].Claims {
		verdicts[c.ID] = c.Verdict
		if c.ID != "30" { // this claim has no rows
			tested++
		}
	}
	return verdicts, tested
}
