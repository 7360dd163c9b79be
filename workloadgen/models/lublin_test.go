package models

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"bourse/workloadgen"
	"bourse/workloadgen/dist"
	"bourse/workloadgen/gof"
	"bourse/workloadgen/swf"
)

// quantities returns the gaps, runtimes and sizes of a plan.
func quantities(p workloadgen.Plan) map[string][]float64 {
	q := map[string][]float64{}
	for i, j := range p {
		if i > 0 {
			q["gaps"] = append(q["gaps"], j.Arrival-p[i-1].Arrival)
		}
		q["runtimes"] = append(q["runtimes"], j.Runtime)
		q["sizes"] = append(q["sizes"], float64(j.Nodes))
	}
	return q
}

// TestLublinAgainstAuthors checks that a plan agrees with a log written by the
// authors' program for 256 processors: the two-sample Kolmogorov-Smirnov test
// does not reject gaps, runtimes or sizes of 10,000 jobs at 5 %.
func TestLublinAgainstAuthors(t *testing.T) {
	t.Parallel()
	const path = "../../../shared/traces/lublin_256.synthetic.swf.gz"
	trace, err := swf.ReadFile(path)
	if os.IsNotExist(err) {
		t.Skipf("no recorded trace %s", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	theirs, _ := trace.Plan(swf.NoMemory)
	want := quantities(theirs)
	for seed := range uint64(3) {
		for name, got := range quantities(mustPlan(t, "lublin", "{size: 256, jobs: 10000}", seed+1, 0)) {
			k := gof.TwoSample(got, want[name])
			t.Logf("seed %d: %s: D %.4f, p %.3f", seed+1, name, k.D, k.P)
			if k.P < 0.05 {
				t.Errorf("seed %d: %s differ: D %v, p %v", seed+1, name, k.D, k.P)
			}
		}
	}
}

// TestLublinMeans checks mean runtime and size on 64 processors: 3996 s and 6.84 for the
// original model, 2200 s and 8.39 for the re-fitted one.
func TestLublinMeans(t *testing.T) {
	t.Parallel()
	for options, want := range map[string][2]float64{
		"{size: 64, jobs: 100000}":                  {3996, 6.84},
		"{size: 64, jobs: 100000, set: farooq2006}": {2200, 8.39},
	} {
		run, size := 0.0, 0.0
		for _, j := range mustPlan(t, "lublin", options, 5, 0) {
			run += j.Runtime / 1e5
			size += float64(j.Nodes) / 1e5
		}
		if math.Abs(run-want[0]) > 0.03*want[0] || math.Abs(size-want[1]) > 0.02*want[1] {
			t.Errorf("%s: mean runtime %.0f, size %.2f, want %v", options, run, size, want)
		}
	}
}

// TestLublinFitted checks that farooq2006 equals, to every digit, the fit that the reservation
// rules specify for the paper's 64 processors.
func TestLublinFitted(t *testing.T) {
	t.Parallel()
	want := mustPlan(t, "lublin", "{size: 64, change: {umed: 4.02, b1: 0.876, b2: 0.02796}}", 3, 0)
	if got := mustPlan(t, "lublin", "{size: 64, set: farooq2006}", 3, 0); !reflect.DeepEqual(got, want) {
		t.Error("set farooq2006 draws other jobs than its parameters do")
	}
}

// TestLublinGolden checks the worked cases: gamma distribution functions, the
// 48 weights of the day, and the probability of the first gamma by size.
func TestLublinGolden(t *testing.T) {
	t.Parallel()
	dir := "testdata"
	if d := os.Getenv("BOURSE_GOLDEN_RESERVATIONS"); d != "" {
		dir = d
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	seen := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var list struct {
			Cases []struct {
				ID, Kind      string
				Input, Expect json.RawMessage
			}
		}
		if err := json.Unmarshal(text, &list); err != nil {
			t.Fatal(err)
		}
		for _, c := range list.Cases {
			if c.Kind != "lublin" {
				continue
			}
			seen++ // an expectation may contain only some of the values
			var in struct {
				Gammas [][3]float64 `json:"gamma_cdf"`
				Sizes  []float64
			}
			var want struct {
				Gammas  []float64 `json:"gamma_cdf"`
				Weights []float64
				Argmax  *int
				PFirst  []float64 `json:"p_first"`
			}
			if json.Unmarshal(c.Input, &in) != nil || json.Unmarshal(c.Expect, &want) != nil {
				t.Fatalf("%s: cannot be read", c.ID)
			}
			near := func(what string, got, want float64) {
				if !(math.Abs(got-want) <= 1e-9) {
					t.Errorf("%s: %s %v, want %v", c.ID, what, got, want)
				}
			}
			for i, w := range want.Gammas {
				g := in.Gammas[i]
				near("gamma", dist.NewGamma(g[1], g[2]).CDF(g[0]), w)
			}
			set := lublinSets["whole"]
			top := 0
			weights := dayWeights(set.anum, set.bnum)
			for i, w := range want.Weights {
				near("weight", weights[i], w)
			}
			for i, w := range weights {
				if w > weights[top] {
					top = i
				}
			}
			if want.Argmax != nil && top != *want.Argmax {
				t.Errorf("%s: busiest half hour %d, want %d", c.ID, top, *want.Argmax)
			}
			for i, w := range want.PFirst {
				near("probability", min(1, max(0, set.pa*in.Sizes[i]+set.pb)), w)
			}
		}
	}
	if seen == 0 && dir == "testdata" {
		t.Errorf("no case in %s", dir)
	}
}

// TestLublinSets checks the properties of the sets. Serial jobs and powers of two have the
// given frequencies, interactive jobs are shorter than batch jobs, and both streams together
// have more arrivals than either. In the daily cycle, the half hours around 14:00 have more
// arrivals than those around 4:00.
func TestLublinSets(t *testing.T) {
	t.Parallel()
	plans := map[string]workloadgen.Plan{}
	for _, set := range []string{"whole", "batch", "interactive", "both"} {
		plans[set] = mustPlan(t, "lublin", "{jobs: 20000, set: "+set+"}", 2, 0)
	}
	count := func(set string, ok func(workloadgen.Job) bool) float64 {
		n := 0.0
		for _, j := range plans[set] {
			if ok(j) {
				n++
			}
		}
		return n / float64(len(plans[set]))
	}
	serial := func(j workloadgen.Job) bool { return j.Nodes == 1 }
	power := func(j workloadgen.Job) bool { return j.Nodes&(j.Nodes-1) == 0 }
	for set, p := range lublinSets {
		if got := count(set, serial); math.Abs(got-p.serialProb) > 0.015 {
			t.Errorf("%s: serial %v, want %v", set, got, p.serialProb)
		}
		if got := count(set, power); got < p.serialProb+p.pow2Prob-0.015 {
			t.Errorf("%s: powers of two %v, want at least %v", set, got, p.serialProb+p.pow2Prob)
		}
	}
	long := func(j workloadgen.Job) bool { return j.Runtime > 3600 }
	if b, i := count("batch", long), count("interactive", long); i > b/3 {
		t.Errorf("of interactive jobs %v run an hour, of batch jobs %v", i, b)
	}
	span := func(set string) float64 { return plans[set][19999].Arrival }
	if span("both") > span("batch") || span("both") > span("interactive") {
		t.Errorf("spans: both %v, batch %v, interactive %v", span("both"), span("batch"), span("interactive"))
	}
}

// TestLublinCycle checks that arrivals follow the weights of the day: in a log whose origin is
// 00:00, the number of arrivals in each half hour is proportional to its weight.
func TestLublinCycle(t *testing.T) {
	t.Parallel()
	m, err := NewLublin(DefaultLublin())
	if err != nil {
		t.Fatal(err)
	}
	s := m.streams[0]
	src := rand.NewPCG(3, 3)
	var c lublinClock
	var seen [halfHours]float64
	const n = 200_000
	for range n {
		c.advance(s, dist.Open(src))
		seen[int(c.now/halfHour)%halfHours]++
	}
	for i, w := range s.weights {
		if got := seen[i] * halfHours / n; math.Abs(got-w) > 0.08*w+0.03 {
			t.Errorf("half hour %d has %v of the mean, want %v", i, got, w)
		}
	}
}

// TestLublinErrors checks that invalid options are rejected by name.
func TestLublinErrors(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]string{
		"size: 1":                        "size: found 1",
		"size: 9":                        "size 9: set whole wants at least 10",
		"{size: 31, set: both}":          "size 31: set interactive wants at least 32",
		"set: weekend":                   `set: found weekend`,
		"change: {umed: 99}":             "change.umed: found 99",
		"change: {a1: .nan}":             "change.a1: found .nan",
		"change: {serial_prob: 0.9}":     "change.pow2_prob: found 0.576",
		"change: {a3: 1}":                "a3",
		"users: -1":                      "users: found -1",
		"jobs: 0":                        "jobs: found 0",
		"{sizes: {rule: drop}, jobs: 1}": "sizes.hosts: found 0",
	} {
		if _, err := made(t, "lublin", options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", options, err, want)
		}
	}
}

// TestLublinLeast checks that the model can be created for the documented smallest machines.
func TestLublinLeast(t *testing.T) {
	t.Parallel()
	for _, options := range []string{"size: 10", "{size: 10, set: batch}", "{size: 32, set: both}", "{size: 7, set: farooq2006}"} {
		m, err := made(t, "lublin", options)
		if err != nil {
			t.Errorf("%s: %v", options, err)
			continue
		}
		if _, err := m.Plan(rand.NewPCG(1, 1), 100, nil); err != nil {
			t.Errorf("%s: %v", options, err)
		}
	}
}

// BenchmarkLublin compares the time per job of the model, with reused memory, with that of the
// market paper's model.
func BenchmarkLublin(b *testing.B) {
	lublin, _ := Table().New("lublin", nil)
	paper, _ := Table().New("paper", nil)
	src := rand.NewPCG(1, 1)
	const n = 1000
	plan, _ := lublin.Plan(src, n, nil)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		plan, _ = lublin.Plan(src, n, plan)
	}
	ours := b.Elapsed()
	for range b.N {
		plan, _ = paper.Plan(src, n, plan)
	}
	b.ReportMetric(float64(ours.Nanoseconds())/float64(b.N*n), "ns/job")
	b.ReportMetric(float64(ours)/float64(b.Elapsed()-ours), "x-paper-job")
}
