package models

import (
	"math"
	"strings"
	"testing"

	"bourse/workloadgen/memory"
)

// TestIndependent checks the means of each quantity, and that a long memory changes only the
// order of the gaps.
func TestIndependent(t *testing.T) {
	t.Parallel()
	const options = "{jobs: 20000, users: 5, iat: hypweib, runtime: {name: weibull, options: {shape: 0.8, scale: 1000}}, nodes: binbin, widest: 128"
	plain := mustPlan(t, "independent", options+"}", 3, 0)
	long := mustPlan(t, "independent", options+", hurst: 0.8}", 3, 0)
	gaps := make([]float64, 0, len(long))
	run, wide := 0.0, 0
	for i, j := range long {
		if p := plain[i]; p.Runtime != j.Runtime || p.Nodes != j.Nodes || p.User != j.User {
			t.Fatalf("job %d differs with a memory of arrivals", j.ID)
		}
		if i > 0 {
			gaps = append(gaps, j.Arrival-long[i-1].Arrival)
		}
		run += j.Runtime
		wide = max(wide, j.Nodes)
	}
	if want := 1000 * math.Gamma(1+1/0.8); math.Abs(run/20000-want) > 0.05*want {
		t.Errorf("mean runtime %v, want %v", run/20000, want)
	}
	if wide != 128 {
		t.Errorf("widest job %d, want 128", wide)
	}
	if h := memory.RescaledRange(gaps).H; math.Abs(h-0.8) > 0.005 {
		t.Errorf("Hurst exponent %v of the gaps, want 0.8", h)
	}
	if h := memory.LocalWhittle(gaps).H; h < 0.65 {
		t.Errorf("local Whittle finds %v in gaps with a memory", h)
	}
}

// TestIndependentErrors checks that invalid options are rejected by name.
func TestIndependentErrors(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]string{
		"jobs: 0":                              "jobs: found 0",
		"users: 0":                             "users: found 0",
		"widest: -1":                           "widest: found -1",
		"shortest: 0":                          "shortest: found 0",
		"hurst: 1":                             "hurst: found 1",
		"iat: poisson":                         `iat: unknown distribution "poisson"`,
		"nodes: {name: zipf, options: {z: 1}}": "nodes: distribution zipf",
		"runtime: {nam: zipf}":                 "nam",
		"{iat: {name: constant, options: {value: 1e10}}, jobs: 100}": "",
	} {
		m, err := made(t, "independent", options)
		if want == "" {
			if err == nil {
				if _, err = m.Plan(zero{}, 0, nil); err == nil || !strings.Contains(err.Error(), "beyond 1e+11") {
					t.Errorf("%s: error %v, want that the plan is too long", options, err)
				}
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", options, err, want)
		}
	}
}

// zero is a source of the smallest uniform.
type zero struct{}

func (zero) Uint64() uint64 { return 0 }
