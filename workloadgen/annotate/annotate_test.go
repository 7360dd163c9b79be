package annotate

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"bourse/workloadgen"
	"bourse/workloadgen/config"
	"bourse/workloadgen/dist"
)

// TestGolden checks the worked cases of annotation: kinds annotate, estimate, arrivals and
// classes, in every file of this package's copy of the cases, or of the folder that
// BOURSE_GOLDEN_LIBRA names. Other tests check the other kinds.
func TestGolden(t *testing.T) {
	t.Parallel()
	dir, least := os.Getenv("BOURSE_GOLDEN_LIBRA"), 0
	if dir == "" {
		dir, least = "testdata", 10
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	seen := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var golden struct{ Cases []goldenCase }
		if err := json.Unmarshal(text, &golden); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, c := range golden.Cases {
			if run := kinds[c.Kind]; run != nil {
				run(t, &c)
				seen++
			}
		}
	}
	if len(files) == 0 || seen < least {
		t.Errorf("%d cases in %s, want at least %d", seen, dir, least)
	}
}

// A goldenCase is one example with its exact answer.
type goldenCase struct {
	ID, Kind      string
	Input, Expect json.RawMessage
}

var kinds = map[string]func(*testing.T, *goldenCase){
	"annotate": func(t *testing.T, c *goldenCase) {
		var in struct{ Mean, SD, Lo, U float64 }
		var want struct{ Value float64 }
		c.decode(t, &in, &want)
		c.near(t, (dist.TruncNormal{Mu: in.Mean, SD: in.SD, Lo: in.Lo}).Quantile(in.U), want.Value)
	},
	"estimate": func(t *testing.T, c *goldenCase) {
		var in struct {
			Runtime, Inaccuracy float64
			TraceEstimate       float64 `json:"trace_estimate"`
		}
		var want struct{ Estimate float64 }
		c.decode(t, &in, &want)
		c.near(t, estimate(in.Runtime, in.TraceEstimate, in.Inaccuracy), want.Estimate)
	},
	"arrivals": func(t *testing.T, c *goldenCase) {
		var in struct {
			Submit []float64
			ADF    float64
		}
		var want struct{ Submit []float64 }
		c.decode(t, &in, &want)
		plan := make(workloadgen.Plan, len(in.Submit))
		for i := range plan {
			plan[i].Arrival = in.Submit[i]
		}
		Delay(plan, in.ADF)
		for i := range plan {
			c.near(t, plan[i].Arrival, want.Submit[i])
		}
	},
	"classes": func(t *testing.T, c *goldenCase) {
		var in struct {
			U           []float64
			HighUrgency float64 `json:"high_urgency"`
		}
		var want struct{ Urgent []bool }
		c.decode(t, &in, &want)
		if got := classes(in.U, in.HighUrgency); !slices.Equal(got, want.Urgent) {
			t.Errorf("%s: %v, want %v", c.ID, got, want.Urgent)
		}
	},
}

func (c *goldenCase) decode(t *testing.T, in, want any) {
	t.Helper()
	for text, v := range map[*json.RawMessage]any{&c.Input: in, &c.Expect: want} {
		if err := json.Unmarshal(*text, v); err != nil {
			t.Fatalf("%s: %v", c.ID, err)
		}
	}
}

func (c *goldenCase) near(t *testing.T, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-6*max(1, math.Abs(got), math.Abs(want))) {
		t.Errorf("%s: %v, want %v", c.ID, got, want)
	}
}

func somePlan(n int, seed uint64) workloadgen.Plan {
	rng := rand.New(rand.NewPCG(seed, 0))
	plan := make(workloadgen.Plan, n)
	now := 1000.0
	for i := range plan {
		now += rng.Float64() * 100
		run := 10 + rng.Float64()*1000
		plan[i] = workloadgen.Job{ID: int64(i), User: rng.Int64N(5), Arrival: now, Runtime: run,
			Estimate: run * (1 + rng.Float64()), Deadline: run, Nodes: 1 + rng.IntN(200), Worth: 1}
	}
	return plan
}

// TestUrgencyPapers checks the papers' statements about the classes. 20 % of the jobs have high
// urgency. Their mean deadline factor is 4, and the mean of the other jobs is 16. Every factor
// is above 1. Urgent jobs have hard deadlines, high budgets and high penalties.
func TestUrgencyPapers(t *testing.T) {
	t.Parallel()
	u := defaultUrgency()
	u.SLA = true
	plan := somePlan(20000, 3)
	if err := u.annotate(plan, rand.NewPCG(5, 6)); err != nil {
		t.Fatal(err)
	}
	var n, x, v, z [2]float64
	for _, j := range plan {
		k := 0
		if j.Urgent {
			k = 1
		}
		n[k]++
		x[k] += j.Deadline / j.Runtime
		v[k] += j.Value / j.Runtime
		z[k] += j.PenaltyRate
		if j.Deadline <= j.Runtime || j.Hard != j.Urgent {
			t.Fatalf("job %+v", j)
		}
	}
	if n[1] != 4000 {
		t.Errorf("%v urgent jobs, want 4000", n[1])
	}
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"deadline factor of the urgent", x[1] / n[1], 4},
		{"of the others", x[0] / n[0], 16},
		{"dollars a second of the urgent", v[1] / n[1], 7},
		{"of the others", v[0] / n[0], 1},
		{"penalty of the urgent", z[1] / n[1], 0.4},
		{"of the others", z[0] / n[0], 0.1},
	} {
		if math.Abs(c.got-c.want) > 0.02*c.want {
			t.Errorf("mean %s %v, want %v", c.what, c.got, c.want)
		}
	}
}

// TestCommonDraws checks that no parameter changes the draws of another. With a larger fraction
// of high urgency, urgent jobs stay urgent with the same deadlines. With different budgets, the
// deadlines do not change.
func TestCommonDraws(t *testing.T) {
	t.Parallel()
	annotated := func(change func(*Urgency)) workloadgen.Plan {
		u := defaultUrgency()
		change(&u)
		plan := somePlan(300, 4)
		if err := u.annotate(plan, rand.NewPCG(8, 8)); err != nil {
			t.Fatal(err)
		}
		return plan
	}
	base := annotated(func(*Urgency) {})
	wide := annotated(func(u *Urgency) { u.High = 0.6 })
	sla := annotated(func(u *Urgency) { u.SLA = true; u.Budget.Ratio = 3 })
	for i, j := range base {
		if j.Urgent && (!wide[i].Urgent || wide[i].Deadline != j.Deadline) {
			t.Errorf("job %d is urgent at 20 %%, and at 60 %% %v", j.ID, wide[i])
		}
		if sla[i].Deadline != j.Deadline {
			t.Errorf("job %d has another deadline with a budget", j.ID)
		}
	}
}

// TestSizes checks each rule that maps job sizes.
func TestSizes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sizes Sizes
		want  []int
		note  SizeNote
	}{
		{Sizes{}, []int{1, 8, 100, 1152}, SizeNote{Jobs: 4}},
		{Sizes{Rule: "pack"}, []int{1, 8, 100, 1152}, SizeNote{Jobs: 4}},
		{Sizes{Rule: "drop", Hosts: 100}, []int{1, 8, 100}, SizeNote{4, 0, 1, 1261, 109}},
		{Sizes{Rule: "cap", Hosts: 15}, []int{1, 8, 15, 15}, SizeNote{4, 2, 0, 1261, 39}},
		{Sizes{Rule: "scale", Hosts: 100, From: 1152}, []int{1, 1, 9, 100}, SizeNote{4, 3, 0, 1261, 111}},
		{Sizes{Rule: "fold", Hosts: 100, Per: 8}, []int{1, 1, 13}, SizeNote{4, 2, 1, 1261, 15}},
	} {
		plan := workloadgen.Plan{{Nodes: 1, Runtime: 1}, {Nodes: 8, Parts: 4, Runtime: 1}, {Nodes: 100, Runtime: 1}, {Nodes: 1152, Runtime: 1}}
		got, note := c.sizes.Map(plan)
		var sizes []int
		for _, j := range got {
			sizes = append(sizes, j.Nodes)
			if j.Parts > j.Nodes {
				t.Errorf("%+v: %d nodes in %d parts", c.sizes, j.Nodes, j.Parts)
			}
		}
		if !slices.Equal(sizes, c.want) || note != c.note {
			t.Errorf("%+v: %v %+v, want %v %+v", c.sizes, sizes, note, c.want, c.note)
		}
	}
}

// TestRestore checks that only jobs that ran exactly as long as requested become longer, and
// that they keep their estimates.
func TestRestore(t *testing.T) {
	t.Parallel()
	plan := workloadgen.Plan{
		{Runtime: 60, Estimate: 60, Deadline: 60},
		{Runtime: 60, Estimate: 90, Deadline: 60},
		{Runtime: 60, Estimate: 60, Deadline: 300},
	}
	restore(plan, 38)
	want := workloadgen.Plan{
		{Runtime: 98, Estimate: 60, Deadline: 98},
		{Runtime: 60, Estimate: 90, Deadline: 60},
		{Runtime: 98, Estimate: 60, Deadline: 300},
	}
	if !slices.Equal(plan, want) {
		t.Errorf("%+v, want %+v", plan, want)
	}
}

// TestApply checks that, under any options, a valid plan stays valid and starts at 0, and that
// no user exceeds its budget.
func TestApply(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		delay := rapid.Float64Range(0, 10).Draw(t, "delay")
		inaccuracy := rapid.Float64Range(0, 1).Draw(t, "inaccuracy")
		o := Options{
			Sizes:      Sizes{Rule: rapid.SampledFrom([]string{"", "drop", "cap", "scale", "fold"}).Draw(t, "rule"), Hosts: 15, From: 200, Per: 4},
			Delay:      &delay,
			Inaccuracy: &inaccuracy,
			Value:      &config.Spec{Name: rapid.SampledFrom([]string{"equal", "normal", "pareto"}).Draw(t, "value")},
			Budget:     rapid.Float64Range(0, 1e6).Draw(t, "budget"),
		}
		if rapid.Bool().Draw(t, "urgency") {
			u := defaultUrgency()
			o.Urgency = &u
		}
		if err := o.Validate(); err != nil {
			t.Fatal(err)
		}
		plan, _, err := o.Apply(somePlan(50, rapid.Uint64().Draw(t, "seed")), rand.NewPCG(1, 1))
		if err != nil {
			t.Fatal(err)
		}
		if err := plan.Validate(); err != nil || len(plan) > 0 && plan[0].Arrival != 0 {
			t.Fatalf("%v, first arrival %v", err, plan[0].Arrival)
		}
		micros := map[int64]int64{}
		for _, j := range plan {
			micros[j.User] += int64(math.Round(j.Value * 1e6))
		}
		for user, sum := range micros {
			if sum > int64(o.Budget*1e6) {
				t.Fatalf("user %d offers %d micro-dollars of %v", user, sum, o.Budget)
			}
		}
	})
}

// TestLoad checks that a plan gets the requested load, whatever its load was before.
func TestLoad(t *testing.T) {
	t.Parallel()
	for _, want := range []float64{0.3, 0.85, 2} {
		plan := somePlan(200, 6)
		o := Options{Load: &Load{want, 128}}
		if err := o.Validate(); err != nil {
			t.Fatal(err)
		}
		plan, _, err := o.Apply(plan, rand.NewPCG(1, 1))
		if err != nil {
			t.Fatal(err)
		}
		work := 0.0
		for _, j := range plan {
			work += j.Work()
		}
		if got := work / (128 * plan[len(plan)-1].Arrival); math.Abs(got-want) > 1e-9 || plan[0].Arrival != 0 {
			t.Errorf("load %v, want %v", got, want)
		}
	}
	alone := workloadgen.Plan{{Arrival: 5, Runtime: 1, Nodes: 1}, {Arrival: 5, Runtime: 1, Nodes: 1}}
	if (&Load{1, 1}).Scale(alone); alone[1].Arrival != 5 {
		t.Errorf("a plan without span arrives at %v", alone[1].Arrival)
	}
}

// TestOptions checks that options out of range are rejected by name, and that the urgency in a
// file starts from the defaults.
func TestOptions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"delay: 0.1":                                   "",
		"urgency: {high: 0.5}":                         "",
		"urgency: {sla: true}":                         "",
		"sizes: {rule: drop}":                          "sizes.hosts: found 0",
		"sizes: {rule: shrink}":                        `sizes.rule: found shrink`,
		"sizes: {rule: scale, hosts: 9}":               "sizes.from: found 0",
		"sizes: {rule: fold, hosts: 9}":                "sizes.per: found 0",
		"delay: -1":                                    "delay: found -1",
		"arrivals: bursts":                             `arrivals: found bursts`,
		"reservations: {share: 2}":                     "reservations.share: found 2",
		"reservations: {errors: odd}":                  `reservations.errors: found odd`,
		"reservations: {inaccuracy: -1}":               "reservations.inaccuracy: found -1",
		"reservations: {lead: {law: odd}}":             `reservations.lead.law: found odd`,
		"reservations: {laxity: {mean: -1}}":           "reservations.laxity.mean: found -1",
		"reservations: {laxity: {mean: 2}}":            "",
		"load: {target: 0.8, processors: 4}":           "",
		"load: {target: 0.8}":                          "load.processors: found 0",
		"{delay: 2, load: {target: 1, processors: 1}}": "load: found delay too",
		"delay: .nan":                                  "delay: found .nan",
		"inaccuracy: 1.5":                              "inaccuracy: found 1.5",
		"restore: .inf":                                "restore: found .inf",
		"budget: -5":                                   "budget: found -5",
		"{budget: 5, price: 5}":                        "budget 5 and price 5",
		"{budget: 5, urgency: {sla: true}}":            "urgency.sla",
		"value: gold":                                  `unknown value model "gold"`,
		"urgency: {high: 2}":                           "urgency.high: found 2",
		"urgency: {deadline: {low: 0}}":                "urgency.deadline.low: found 0",
		"urgency: {penalty_of: work}":                  `urgency.penalty_of: found work`,
		"urgency: {hi: 2}":                             "hi",
		"urgency: {budget_of: procs}":                  `urgency.budget_of: found procs`,
		"urgency: {cv: -1}":                            "urgency.cv: found -1",
		"urgency: {price: .nan}":                       "urgency.price: found .nan",
		"urgency: {rate: -1}":                          "urgency.rate: found -1",
		"urgency: {deadline: {low: 4, ratio: 4, mean: 2}, high: 0.5}": "",
	} {
		var o Options
		err := config.Read("", []byte(text), &o)
		if err == nil {
			err = o.Validate()
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}
