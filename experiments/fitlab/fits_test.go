package fitlab

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"bourse/workloadgen/describe"
	"bourse/workloadgen/fit"
	"bourse/workloadgen/gof"
	"bourse/workloadgen/models"
	"bourse/workloadgen/swf"
)

// drawn returns the log of a plan drawn from the market paper's distributions without cuts.
func drawn(t *testing.T, jobs int) *describe.Log {
	t.Helper()
	o := models.DefaultIndependent()
	o.IAT.Name, o.IAT.Options = "hypweib", nil
	o.Runtime.Name, o.Runtime.Options = "polylin", nil
	o.Nodes.Name, o.Nodes.Options = "binbin", nil
	m, err := models.NewIndependent(o)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := m.Plan(rand.NewPCG(5, 5), jobs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return describe.Describe(swf.FromPlan(plan, 0))
}

// TestFitLog checks the path from a log to a model file and back. The distributions that
// generated the log must be the closest, the file must be readable, and the plan that it
// generates must agree with the log. The number of workers must not change the result.
func TestFitLog(t *testing.T) {
	t.Parallel()
	l := drawn(t, 5000)
	c := Candidates{
		{"exponential", "weibull", "hypweib"},
		{"exponential", "gpareto", "polylin"},
		{"zipf", "binbin"},
	}
	r, err := FitLog(context.Background(), l, c, fit.PaperOptions(), 8)
	if err != nil {
		t.Fatal(err)
	}
	one, err := FitLog(context.Background(), l, c, fit.PaperOptions(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if !same(r, one) {
		t.Errorf("one worker finds %+v, eight %+v", one, r)
	}
	for _, q := range []struct {
		want string
		got  []outcome
	}{{"hypweib", r[0]}, {"polylin", r[1]}, {"binbin", r[2]}} {
		if q.got[0].Name != q.want || q.got[0].Err != nil {
			t.Errorf("nearest is %s, %v, want %s", q.got[0].Name, q.got[0].Err, q.want)
		}
	}
	file, err := r.File(l, "a plan")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := file.Write(&text); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "model.yaml")
	if err := os.WriteFile(name, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	read, err := models.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := read.New()
	if err != nil {
		t.Fatalf("%v of\n%s", err, &text)
	}
	plan, err := m.Plan(rand.NewPCG(6, 6), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	again := describe.Describe(swf.FromPlan(plan, 0))
	if len(plan) != 5000 {
		t.Errorf("%d jobs, want as many as the log has, 5000", len(plan))
	}
	for _, q := range [][2]describe.Quantity{{l.IAT, again.IAT}, {l.Run, again.Run}, {l.Procs, again.Procs}} {
		if k := gof.TwoSample(q[0].Values, q[1].Values); k.P < 0.01 {
			t.Errorf("%s: what is generated differs: %+v", q[0].Name, k)
		}
	}
}

// same compares reports and treats NaN as equal to NaN.
func same(a, b *Report) bool {
	clean := func(r *Report) {
		for _, list := range r {
			for i := range list {
				for k := range list[i].Params {
					if math.IsNaN(list[i].Params[k].SE) {
						list[i].Params[k].SE = -1
					}
				}
				if math.IsNaN(list[i].LogLik) {
					list[i].LogLik, list[i].AIC = -1, -1
				}
			}
		}
	}
	clean(a)
	clean(b)
	return reflect.DeepEqual(a, b)
}

// TestFitFailure checks that a distribution that cannot be fitted is reported next to those
// that can.
func TestFitFailure(t *testing.T) {
	t.Parallel()
	l := &describe.Log{
		IAT:   describe.New("IAT", "s", []float64{5, 5, 5, 5}),
		Run:   describe.New("RUN", "s", []float64{1, 2, 3, 4}),
		Procs: describe.New("CPU", "", []float64{8, 16, 8, 8}),
	}
	r, err := FitLog(context.Background(), l, Candidates{{"weibull", "exponential"}, {"polylin"}}, fit.PaperOptions(), 2)
	if err != nil {
		t.Fatal(err)
	}
	if r[0][0].Name != "exponential" || r[0][1].Err == nil || r[1][0].Err == nil {
		t.Errorf("%+v", r)
	}
	if _, err := r.File(l, ""); err == nil {
		t.Error("a model without runtimes was written")
	}
	l.Run = describe.New("RUN", "s", nil)
	if _, err := FitLog(context.Background(), l, defaultCandidates(), fit.PaperOptions(), 2); err == nil || !strings.Contains(err.Error(), "fit RUN: no values") {
		t.Errorf("error %v", err)
	}
}
