package models

import (
	"math"
	"strings"
	"testing"
)

// TestRegular checks the workload of the volunteer paper (§5): a job every 120 s from the
// second to the seventh day. Lengths are whole seconds from 1 to 10,000 s, from an exponential
// of mean 1000 conditioned on that range, which has the mean 1001 - 9999/(e^9.999 - 1).
func TestRegular(t *testing.T) {
	t.Parallel()
	plan := mustPlan(t, "regular", "", 1, 0)
	if want := 6 * 86400 / 120; len(plan) != want {
		t.Fatalf("%d jobs, want %d", len(plan), want)
	}
	sum, least, most := 0.0, math.Inf(1), 0.0
	for i, j := range plan {
		if j.Arrival != 86400+120*float64(i) || j.Runtime != math.Round(j.Runtime) || j.Nodes != 1 || j.Estimate != j.Runtime {
			t.Fatalf("job %d is %+v", i, j)
		}
		sum += j.Runtime
		least, most = min(least, j.Runtime), max(most, j.Runtime)
	}
	want := 1001 - 9999/(math.Exp(9.999)-1)
	if got := sum / float64(len(plan)); math.Abs(got-want) > 4*1000/math.Sqrt(float64(len(plan))) || least < 1 || most > 10_000 {
		t.Errorf("lengths from %v to %v, mean %v; want from 1 to 10000, %v", least, most, got, want)
	}
	if err := plan.Validate(); err != nil {
		t.Error(err)
	}
	for options, want := range map[string]int{
		"{from: 0, to: 100, every: 30}":       4, // at 0, 30, 60, 90
		"{from: 0, to: 90, every: 30}":        3, // not at 90
		"{from: 0, to: 0.3, every: 0.1}":      3,
		"{from: 518400, every: 30, users: 1}": 2880, // These requests are from the seventh day only.
		"{price: 0.001, delay: 1}":            4320, // The requests still start on the second day.
	} {
		if got := len(mustPlan(t, "regular", options, 1, 0)); got != want {
			t.Errorf("%s: %d jobs, want %d", options, got, want)
		}
	}
}

// TestRegularErrors checks that invalid options are rejected by name.
func TestRegularErrors(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]string{
		"users: 0":         "users: found 0",
		"from: -1":         "from: found -1",
		"to: 86400":        "to: found 86400",
		"every: 0":         "every: found 0",
		"every: 1e-9":      "every: found 1e-09",
		"runtime: poisson": `runtime: unknown distribution "poisson"`,
		"evry: 1":          "evry",
	} {
		if _, err := made(t, "regular", options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", options, err, want)
		}
	}
}

// TestRegularAnnotated checks that annotations do not change the time of the first submission.
func TestRegularAnnotated(t *testing.T) {
	t.Parallel()
	plan := mustPlan(t, "regular", "{from: 500, every: 10, to: 600, price: 0.5, delay: 2}", 1, 0)
	if plan[0].Arrival != 500 || plan[1].Arrival != 520 || plan[1].Value != 0.5*plan[1].Runtime {
		t.Errorf("%+v", plan[:2])
	}
}
