package gof

import (
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"bourse/workloadgen/config"
	"bourse/workloadgen/dist"
)

// TestKSAgainstR compares distances and p-values with R's ks.test. R 4.2.2 wrote the table with
// testdata/ks.R. R computes the limit to 1e-6 before it multiplies, so its p-values are
// accurate to 1e-5.
func TestKSAgainstR(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/ks.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) < 50 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, row := range rows[1:] {
		a, b := numbers(t, row[5]), numbers(t, row[6])
		d, p := numbers(t, row[3])[0], numbers(t, row[4])[0]
		got := TwoSample(a, b)
		tol := 1e-9 * max(p, 1e-3)
		if row[2] == "false" {
			got.P = asymptotic(len(a), len(b), got.D)
			tol = 1e-5
		}
		if math.Abs(got.D-d) > 1e-12 || math.Abs(got.P-p) > tol {
			t.Errorf("row %d (%s, %s): %+v, want %v %v", i+2, row[0], row[1], got, d, p)
		}
	}
}

func numbers(t *testing.T, text string) []float64 {
	t.Helper()
	var out []float64
	for _, word := range strings.Fields(text) {
		x, err := strconv.ParseFloat(word, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, x)
	}
	return out
}

// TestDistance compares the distance with gonum's, with and without ties, and checks that a
// sample has distance 0 from itself.
func TestDistance(t *testing.T) {
	t.Parallel()
	sample := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float64 {
		return float64(rapid.IntRange(0, 20).Draw(t, "value"))
	}), 1, 40)
	rapid.Check(t, func(t *rapid.T) {
		a, b := sample.Draw(t, "a"), sample.Draw(t, "b")
		slices.Sort(a)
		slices.Sort(b)
		if got, want := distance(a, b), stat.KolmogorovSmirnov(a, nil, b, nil); math.Abs(got-want) > 1e-12 {
			t.Fatalf("distance %v, gonum %v", got, want)
		}
		if d := distance(a, a); d != 0 {
			t.Fatalf("distance %v from itself", d)
		}
	})
}

// TestDistanceTo compares the distance to a distribution with the distance to a very large
// sample from it, including for a distribution with steps.
func TestDistanceTo(t *testing.T) {
	t.Parallel()
	for _, s := range []config.Spec{{Name: "weibull"}, {Name: "zipf", Options: map[string]any{"binary": false}}, {Name: "polylin"}} {
		law, err := dist.Table().New(s.Name, s.Decode)
		if err != nil {
			t.Fatal(err)
		}
		src := rand.NewPCG(9, 9)
		sample, other := make([]float64, 500), make([]float64, 0, 200_000)
		for i := range sample {
			sample[i] = dist.Rand(law, src)
		}
		for i := range cap(other) {
			other = append(other, law.Quantile((float64(i)+0.5)/float64(cap(other))))
		}
		slices.Sort(sample)
		if got, want := DistanceTo(sample, law.CDF), distance(sample, other); math.Abs(got-want) > 1e-5 {
			t.Errorf("%s: %v, want %v", s.Name, got, want)
		}
	}
	if d := DistanceTo([]float64{1, 1, 2}, dist.Constant(1).CDF); math.Abs(d-1./3) > 1e-12 {
		t.Errorf("distance to a constant %v, want 1/3", d)
	}
}

// TestStephens checks the distance from which the bootstrap's tests of 100 against 100 values
// reject at 5 %.
func TestStephens(t *testing.T) {
	t.Parallel()
	if stephens(100, 100, 0.18) < 0.05 || stephens(100, 100, 0.19) >= 0.05 {
		t.Error("Stephens does not reject from 0.19 on")
	}
	if asymptotic(100, 100, 0.19) < 0.05 || asymptotic(100, 100, 0.20) >= 0.05 {
		t.Error("Asymptotic does not reject from 0.20 on")
	}
}

// TestBootstrap checks that samples from one distribution are rejected about as often as the
// level states, that the parts cover all pairs, and that parts are reproducible.
func TestBootstrap(t *testing.T) {
	t.Parallel()
	b := PaperBootstrap()
	b.Pairs = 1020
	var sum Tally
	source := Source(func(u float64) float64 { return u })
	for part := range b.Parts() {
		sum = sum.Add(b.Run(part, source, source, rand.NewPCG(1, uint64(part))))
	}
	if sum.Pairs != 1020 || sum.Success() < 0.92 || sum.Success() > 0.97 {
		t.Errorf("%d pairs, success %v, want 1020, about 0.946", sum.Pairs, sum.Success())
	}
	if a, c := b.Run(3, source, source, rand.NewPCG(1, 3)), b.Run(3, source, source, rand.NewPCG(1, 3)); a != c {
		t.Errorf("a part is %v, then %v", a, c)
	}
}

// BenchmarkDistance compares the time for two samples of 100 with that of gonum's function.
func BenchmarkDistance(b *testing.B) {
	src := rand.NewPCG(1, 1)
	x, y := make([]float64, 100), make([]float64, 100)
	for i := range x {
		x[i], y[i] = dist.Open(src), dist.Open(src)
	}
	slices.Sort(x)
	slices.Sort(y)
	sum := 0.0
	for range b.N {
		sum += distance(x, y)
	}
	ours := b.Elapsed()
	for range b.N {
		sum += stat.KolmogorovSmirnov(x, nil, y, nil)
	}
	b.ReportMetric(float64(b.Elapsed()-ours)/float64(ours), "x-faster-than-gonum")
}
