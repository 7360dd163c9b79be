package models

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"bourse/workloadgen"
	"bourse/workloadgen/config"
)

// TestPaperPromises checks the documented properties of plans of [Paper], for any options.
func TestPaperPromises(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := DefaultPaper()
		o.Jobs = rapid.IntRange(1, 300).Draw(t, "jobs")
		o.Users = rapid.IntRange(1, 100).Draw(t, "users")
		o.Budget = rapid.Float64Range(0, 1e6).Draw(t, "budget")
		o.IAT.Min = rapid.Float64Range(0, 100).Draw(t, "min")
		o.IAT.Max = o.IAT.Min + rapid.Float64Range(1, 1000).Draw(t, "span")
		o.IAT.Mean = o.IAT.Min + rapid.Float64Range(0.01, 0.99).Draw(t, "mean")*(o.IAT.Max-o.IAT.Min)
		o.IAT.Run = rapid.SampledFrom([]int{0, 1, 2, 7, 1000}).Draw(t, "run")
		o.Nodes.Min = rapid.IntRange(1, 20).Draw(t, "nodes")
		o.Nodes.Max = o.Nodes.Min + rapid.IntRange(0, 20).Draw(t, "more")
		o.Value.Name = rapid.SampledFrom([]string{"equal", "normal", "pareto"}).Draw(t, "value")
		m, err := NewPaper(o)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := m.Plan(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0), 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		checkPaper(t, o, plan)
	})
}

func checkPaper(t interface {
	Helper()
	Fatalf(string, ...any)
}, o PaperOptions, plan workloadgen.Plan) {
	t.Helper()
	if err := plan.Validate(); err != nil {
		t.Fatalf("plan: %v", err)
	}
	if len(plan) != o.Jobs || plan[0].Arrival != 0 {
		t.Fatalf("%d jobs from %v, want %d from 0", len(plan), plan[0].Arrival, o.Jobs)
	}
	jobs, micros := map[int64]int{}, map[int64]int64{}
	for i, j := range plan {
		if i > 0 {
			gap := j.Arrival - plan[i-1].Arrival
			if gap < o.IAT.Min-1e-6 || gap > o.IAT.Max+1e-6 {
				t.Fatalf("gap %v is not in %v..%v", gap, o.IAT.Min, o.IAT.Max)
			}
		}
		if j.Runtime < o.Runtime.Min || j.Runtime > o.Runtime.Max || j.Estimate != j.Runtime || j.Deadline != j.Runtime {
			t.Fatalf("runtime, estimate, deadline %v %v %v", j.Runtime, j.Estimate, j.Deadline)
		}
		if j.Nodes < o.Nodes.Min || j.Nodes > o.Nodes.Max {
			t.Fatalf("nodes %d", j.Nodes)
		}
		if m := j.Value * 1e6; math.Abs(m-math.Round(m)) > 1e-3 {
			t.Fatalf("value %v is not in whole micro-dollars", j.Value)
		}
		jobs[j.User]++
		micros[j.User] += int64(math.Round(j.Value * 1e6))
	}
	for user, n := range jobs {
		if user < 1 || user > int64(o.Users) || n < o.Jobs/o.Users || n > o.Jobs/o.Users+1 {
			t.Fatalf("user %d of %d has %d of %d jobs", user, o.Users, n, o.Jobs)
		}
		// The budget is never exceeded, and rounding loses less than a micro-dollar per job.
		if m, b := micros[user], int64(o.Budget*1e6); m > b || m < b-int64(n)-1 {
			t.Fatalf("values of user %d sum to %d micro-dollars of %d, %d jobs", user, m, b, n)
		}
	}
	if n := len(plan) - 1; n > 0 {
		if mean := plan[n].Arrival / float64(n); math.Abs(mean-o.IAT.Mean) > 1e-9*o.IAT.Mean {
			t.Fatalf("mean gap %v, want %v", mean, o.IAT.Mean)
		}
	}
}

// TestPaperRuns checks that a plan with runs has the same gaps as the plan without runs, in
// another order, that nothing else changes, and that neighbouring gaps are correlated.
func TestPaperRuns(t *testing.T) {
	t.Parallel()
	gaps := func(run int) (workloadgen.Plan, []float64) {
		o := DefaultPaper()
		o.IAT.Run = run
		m, err := NewPaper(o)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Plan(rand.NewPCG(11, 3), 1000, nil)
		if err != nil {
			t.Fatal(err)
		}
		var all []float64
		for i := 1; i < len(p); i++ {
			all = append(all, p[i].Arrival-p[i-1].Arrival)
		}
		return p, all
	}
	free, independent := gaps(0)
	runs, correlated := gaps(5)
	for i, j := range runs {
		if f := free[i]; j.Runtime != f.Runtime || j.Nodes != f.Nodes || j.User != f.User || j.Value != f.Value {
			t.Errorf("job %d changes with the order of gaps", j.ID)
		}
	}
	neighbours := func(gaps []float64) float64 { return stat.Correlation(gaps[1:], gaps[:len(gaps)-1], nil) }
	if a, b := neighbours(independent), neighbours(correlated); math.Abs(a) > 0.1 || b < 0.5 {
		t.Errorf("correlation of neighbours %.2f without runs, %.2f with, want about 0 and at least 0.5", a, b)
	}
	slices.Sort(independent)
	slices.Sort(correlated)
	for i := range correlated {
		if math.Abs(correlated[i]-independent[i]) > 1e-6 {
			t.Fatalf("gap %d is %v, without runs %v", i, correlated[i], independent[i])
		}
	}
}

// TestPaperStreams checks that changing one distribution does not change the draws of the
// others, and that a longer plan starts with the same jobs.
func TestPaperStreams(t *testing.T) {
	t.Parallel()
	plan := func(n int, change func(*PaperOptions)) workloadgen.Plan {
		o := DefaultPaper()
		change(&o)
		m, err := NewPaper(o)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Plan(rand.NewPCG(7, 7), n, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	base := plan(50, func(*PaperOptions) {})
	equal := plan(50, func(o *PaperOptions) { o.Value.Name = "equal" })
	low := plan(50, func(o *PaperOptions) { o.IAT.Min, o.IAT.Mean = 90, 153.66 })
	long := plan(80, func(*PaperOptions) {})
	for i, j := range base {
		if e := equal[i]; e.Arrival != j.Arrival || e.Runtime != j.Runtime || e.Nodes != j.Nodes || e.User != j.User {
			t.Errorf("job %d changes with the value model", j.ID)
		}
		if l := low[i]; l.Runtime != j.Runtime || l.Nodes != j.Nodes || l.User != j.User || l.Value != j.Value {
			t.Errorf("job %d changes with the load", j.ID)
		}
		if l := long[i]; l.Runtime != j.Runtime || l.Nodes != j.Nodes || l.Worth != j.Worth {
			t.Errorf("job %d changes with the number of jobs", j.ID)
		}
	}
}

// TestPaperReuse checks that a plan in reused memory equals a plan in new memory, and that it
// allocates nothing.
func TestPaperReuse(t *testing.T) {
	m, err := Table().New("paper", nil)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := m.Plan(rand.NewPCG(1, 2), 50, nil)
	used, _ := m.Plan(rand.NewPCG(3, 4), 60, nil)
	src := rand.NewPCG(1, 2)
	got, _ := m.Plan(src, 50, used)
	if !slices.Equal(got, want) {
		t.Error("a plan in used memory is another plan")
	}
	if n := testing.AllocsPerRun(100, func() { m.Plan(src, 50, used) }); n != 0 {
		t.Errorf("%v allocations a plan, want 0", n)
	}
}

// TestPaperSizes checks the sizes of the spec: the exponents 1 to 6 give 4, 5, 6, 8, 9 and 10
// nodes.
func TestPaperSizes(t *testing.T) {
	t.Parallel()
	m, err := NewPaper(DefaultPaper())
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, u := range []float64{0.1, 0.6, 0.7, 0.85, 0.95, 0.99} {
		got = append(got, m.nodes(u))
	}
	if want := []int{4, 5, 6, 8, 9, 10}; !slices.Equal(got, want) {
		t.Errorf("nodes %v, want %v", got, want)
	}
}

// TestPaperErrors checks that each invalid option is rejected by name.
func TestPaperErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change func(*PaperOptions)
		want   string
	}{
		{func(o *PaperOptions) { o.Jobs = 0 }, "jobs: found 0"},
		{func(o *PaperOptions) { o.Users = -1 }, "users: found -1"},
		{func(o *PaperOptions) { o.Budget = math.NaN() }, "budget: found NaN"},
		{func(o *PaperOptions) { o.IAT.Min = math.NaN() }, "iat.min: found NaN"},
		{func(o *PaperOptions) { o.IAT.Mean = 30 }, "iat.mean: found 30, want more than iat.min, 30"},
		{func(o *PaperOptions) { o.IAT.Max = 90 }, "iat.max: found 90"},
		{func(o *PaperOptions) { o.Runtime.Min = 960 }, "runtime.max: found 960, want more than runtime.min"},
		{func(o *PaperOptions) { o.Runtime.Min, o.Runtime.Max = 1, 10 }, "no mass in 1 to 10"},
		{func(o *PaperOptions) { o.Nodes.Min = 11 }, "nodes.max: found 10, want at least nodes.min"},
		{func(o *PaperOptions) { o.Value.Name = "gold" }, `unknown value model "gold", want one of equal, normal, pareto`},
		{func(o *PaperOptions) { o.Value = config.Spec{Name: "pareto", Options: map[string]any{"shap": 2}} }, "shap"},
		{func(o *PaperOptions) { o.Value = config.Spec{Name: "pareto", Options: map[string]any{"shape": -2}} }, "shape: found -2"},
	} {
		o := DefaultPaper()
		c.change(&o)
		if _, err := NewPaper(o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

// BenchmarkPaper measures a plan of 50 jobs in reused memory, and compares the time per job for
// a million jobs with that for fifty.
func BenchmarkPaper(b *testing.B) {
	m, err := NewPaper(DefaultPaper())
	if err != nil {
		b.Fatal(err)
	}
	src := rand.NewPCG(1, 1)
	perJob := map[int]float64{}
	for _, n := range []int{50, 1_000_000} {
		name := map[int]string{50: "50", 1_000_000: "1e6"}[n]
		b.Run(name, func(b *testing.B) {
			plan, _ := m.Plan(src, n, nil)
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				plan, _ = m.Plan(src, n, plan)
			}
			perJob[n] = float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(n)
			b.ReportMetric(perJob[n], "ns/job")
			if n > 50 {
				b.ReportMetric(perJob[n]/perJob[50], "x-of-50")
			}
		})
	}
}

// TestPaperReadings checks the other interpretations: a mean gap of the distribution, which
// single plans only approximate and all plans together have, and a budget split only by worth.
func TestPaperReadings(t *testing.T) {
	t.Parallel()
	const seed, plans = 9, 400
	o := DefaultPaper()
	o.IAT.Of, o.Split = "law", "worth"
	m, err := NewPaper(o)
	if err != nil {
		t.Fatal(err)
	}
	var means []float64
	for rep := range uint64(plans) {
		plan, err := m.Plan(rand.NewPCG(seed, rep), 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := plan.Validate(); err != nil {
			t.Fatal(err)
		}
		means = append(means, plan[len(plan)-1].Arrival/float64(len(plan)-1))
		sums := map[int64]float64{}
		for _, j := range plan {
			sums[j.User] += j.Worth
		}
		for _, j := range plan {
			if want := o.Budget * j.Worth / sums[j.User]; math.Abs(j.Value-want) > 1.1e-6 {
				t.Fatalf("seed %d, plan %d: job %d is worth $%v, want %v", seed, rep, j.ID, j.Value, want)
			}
		}
	}
	mean, sd := stat.MeanStdDev(means, nil)
	if math.Abs(mean-o.IAT.Mean) > 4*sd/math.Sqrt(plans) || sd < 3 {
		t.Errorf("seed %d: mean gaps %v ± %v, want %v, and plans that differ", seed, mean, sd, o.IAT.Mean)
	}
	o.IAT.Of = "trace"
	if _, err := NewPaper(o); err == nil {
		t.Error("a mean of nothing was taken")
	}
}
