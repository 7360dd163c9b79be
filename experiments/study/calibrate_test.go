package study

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"bourse/experiments"
	"bourse/experiments/metrics"
	"bourse/experiments/scenario"
)

// promising is a scenario with a sweep of guarantees.
func promising(t *testing.T, sets []string, over ...string) *scenario.Experiment {
	t.Helper()
	const file = `
name: promising
replications: 3
base: {workload: {model: {name: paper, jobs: 30}}, admission: [be, sac, {name: sac, label: kept, promise: fulfilment}, class]}
configurations: [one, {name: two, fleet: {hosts: 5}}]
`
	known := experiments.Known()
	for _, o := range over {
		axis, err := scenario.Over(o)
		if err != nil {
			t.Fatal(err)
		}
		known.Over = append(known.Over, axis)
	}
	e, err := scenario.Parse("promising.yaml", []byte(file), known, sets...)
	if err != nil {
		t.Fatal(err)
	}
	return &e
}

// TestCalibrate checks that the report has a point for each requested configuration,
// policy, forecaster and guarantee, and does not depend on the number of workers. Observing
// a policy must not change it: rejections must be those of a plain run.
func TestCalibrate(t *testing.T) {
	t.Parallel()
	e := promising(t, nil, "admission.sac.guarantee,admission.kept.guarantee=0.5..0.9/0.2", "market.forecaster=chebyshev,conformal")
	var texts []string
	var r *Calibrated
	for workers := 1; workers <= 3; workers += 2 {
		var err error
		if r, err = Calibrate(context.Background(), e, Calibration{Configurations: []string{"two"}, Less: "sac"}, experiments.Options{Workers: workers}); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	if texts[0] != texts[1] {
		t.Errorf("with 3 workers\n%s, with one\n%s", texts[1], texts[0])
	}
	var got []string
	for _, p := range r.Points {
		got = append(got, strings.Join([]string{p.Configuration, p.Policy, p.Forecaster, jsonOf(p.G)}, " "))
	}
	if len(r.Points) != 12 || len(r.Scores) != 4 || got[0] != "two sac chebyshev 0.5" || got[11] != "two kept conformal 0.9" {
		t.Errorf("points %q", got)
	}

	refused := map[string][]float64{}
	plain, err := experiments.Prepare(e)
	if err != nil {
		t.Fatal(err)
	}
	err = plain.Each(context.Background(), experiments.Options{}, func(r *experiments.Replication) error {
		c := &plain.Experiment.Configurations[r.Configuration]
		for k, run := range r.Runs {
			x, _ := metrics.Rejections.Of(&run.Outcome)
			at := c.Name + " " + c.Admission[k].Label
			refused[at] = append(refused[at], x)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range r.Points {
		if less := p.Less; p.Policy == "sac" != (less == nil) || less != nil && math.Abs(less.Revenue.Mean-(p.Revenue.Mean-r.Points[i-6].Revenue.Mean)) > 1e-9 {
			t.Errorf("%+v: less sac it is %+v", p, less)
		}
		at := "two@" + jsonOf(p.G) + "," + p.Forecaster + " " + p.Policy
		sum := 0.0
		for _, x := range refused[at] {
			sum += x
		}
		if mean := sum / 3; len(refused[at]) != 3 || mean-p.Rejections.Mean > 1e-12 || p.Rejections.Mean-mean > 1e-12 {
			t.Errorf("%s: rejections %v where it was watched, %v in a plain run", at, p.Rejections.Mean, refused[at])
		}
	}
}

func jsonOf(x float64) string {
	text, _ := json.Marshal(x)
	return string(text)
}

// TestCalibrateClass checks that a guarantee deep in a policy's options is found, and that
// other axes of the sweep distinguish configurations.
func TestCalibrateClass(t *testing.T) {
	t.Parallel()
	e := promising(t, []string{"base.admission.class.default=sac"}, "admission.class.sac.guarantee=0.6,0.8", "sla.slack=1,2")
	r, err := Calibrate(context.Background(), e, Calibration{}, experiments.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Points) != 8 || r.Points[0].Configuration != "one@1" || r.Points[1].G != 0.8 || r.Points[7].Configuration != "two@2" || r.Points[0].Price.Promises == 0 {
		t.Errorf("%+v", r.Points)
	}
}

// TestCalibrateMisuse checks the errors for scenarios that cannot be calibrated.
func TestCalibrateMisuse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		over string
		of   Calibration
		want string
	}{
		{"sla.slack=1,2", Calibration{}, "sweep: found no axis for the guarantee of a policy, want one, such as admission.sac.guarantee=0.5..0.95/0.05"},
		{"admission.sac.guarantee=0.6", Calibration{Less: "cac"}, `less: found "cac", did you mean sac? want one of sac`},
		{"admission.sac.guarantee=0.6", Calibration{Configurations: []string{"to"}}, `configuration: found "to", did you mean two? want one of one, two`},
		{"admission.sac.guarantee=0.6,1", Calibration{}, "admission.sac.guarantee: found 1, want a number more than 0 and less than 1"},
		{"admission.be.guarantee=0.6", Calibration{}, "--over admission.be.guarantee: configurations.one@0.6.admission.be.guarantee: unknown field, want none"},
	} {
		if _, err := Calibrate(context.Background(), promising(t, nil, c.over), c.of, experiments.Options{}); err == nil || err.Error() != c.want {
			t.Errorf("%s: error %v, want %s", c.over, err, c.want)
		}
	}
}

// TestFulfilmentKept checks that a SAC that promises fulfilment at 0.9 keeps this within 2
// percentage points over 2,000 jobs at the paper's high load, about half of which it
// accepts. The rule allows (1-g-α)/γ more violations, which is 6 if α ends at -0.5. The SAC
// that promises prices must break more promises.
func TestFulfilmentKept(t *testing.T) {
	t.Parallel()
	e := promising(t, []string{"base.workload.model.jobs=2000", "replications=2"}, "admission.sac.guarantee,admission.kept.guarantee=0.9")
	r, err := Calibrate(context.Background(), e, Calibration{Configurations: []string{"one"}}, experiments.Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	sac, kept := r.Points[0].Contract, r.Points[1].Contract
	t.Logf("seed %d: sac keeps %v of %d, by fulfilment %v of %d", e.Seed, sac.Kept, sac.Promises, kept.Kept, kept.Promises)
	if kept.Kept < 0.88 || sac.Kept > kept.Kept {
		t.Errorf("kept %v of the time, want 0.9 within 0.02 and more than the %v of prices", kept.Kept, sac.Kept)
	}
}
