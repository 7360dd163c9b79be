package dist

import (
	"bourse/workloadgen/config"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// cases contains at least one case per distribution. Those with a finite fourth moment are also
// compared with draws.
var cases = []struct {
	spec     config.Spec
	discrete bool
	tame     bool // whether the fourth moment is finite and moderate
}{
	{spec("binbin", nil), true, true},
	{spec("binbin", map[string]any{"weights": []float64{1, 0, 3}, "shift": -1}), true, true},
	{spec("constant", map[string]any{"value": 3}), true, true},
	{spec("exponential", map[string]any{"mean": 378.648}), false, true},
	{spec("gamma", map[string]any{"shape": 4.2, "scale": 0.94}), false, true},
	{spec("gamma", map[string]any{"shape": 312, "scale": 0.03}), false, true},
	{spec("gamma", map[string]any{"shape": 0.45, "scale": 10}), false, true},
	{spec("gpareto", nil), false, false},
	{spec("gpareto", map[string]any{"k": 0.1, "sigma": 3, "threshold": 2}), false, true},
	{spec("gpareto", map[string]any{"k": 0, "sigma": 3}), false, true},
	{spec("gpareto", map[string]any{"k": -0.5, "sigma": 3}), false, true},
	{spec("hypergamma", map[string]any{"p": 0.7, "shape1": 4.2, "scale1": 0.94, "shape2": 312, "scale2": 0.03}), false, true},
	{spec("hypweib", nil), false, false},
	{spec("hypweib", map[string]any{"alpha": 0.6, "x_scale": 3, "x_shape": 0.8, "y_scale": 1.5, "y_shape": 4}), false, true},
	{spec("hypweib", map[string]any{"alpha": 1}), false, true},
	{spec("hypweib", map[string]any{"alpha": 0, "y_scale": 1, "y_shape": 5}), false, true},
	{spec("lognormal", map[string]any{"mu": 1, "sigma": 0.4}), false, true},
	{spec("normal", map[string]any{"mean": -3, "sd": 2}), false, true},
	{spec("pareto", nil), false, false},
	{spec("pareto", map[string]any{"shape": 6, "min": 2}), false, true},
	{spec("polylin", nil), false, true},
	{spec("polylin", map[string]any{"min": 1}), false, true},
	{spec("truncnormal", map[string]any{"mean": 4, "sd": 1, "min": 1}), false, true},
	{spec("truncnormal", map[string]any{"mean": 0, "sd": 1, "min": -0.5, "max": 2}), false, true},
	{spec("uniform", map[string]any{"min": -2, "max": 5}), false, true},
	{spec("weibull", map[string]any{"shape": 1.3462, "scale": 16.1489}), false, true},
	{spec("mixture", map[string]any{"p": 0.3, "a": map[string]any{"name": "exponential", "options": map[string]any{"mean": 5}}, "b": "exponential"}), false, true},
	{spec("within", map[string]any{"of": "polylin", "min": 120, "max": 960}), false, true},
	{spec("zipf", nil), true, true},
	{spec("zipf", map[string]any{"s": 1.1, "n": 1000, "binary": false}), true, true},
}

// spec returns the specification of a distribution.
func spec(name string, options map[string]any) config.Spec {
	return config.Spec{Name: name, Options: options}
}

func made(t testing.TB, s config.Spec) Distribution {
	t.Helper()
	d, err := Table().New(s.Name, s.Decode)
	if err != nil {
		t.Fatalf("%v: %v", s, err)
	}
	return d
}

// TestTable checks that every member has its own description, can be created with its defaults,
// and is among the cases of these tests.
func TestTable(t *testing.T) {
	t.Parallel()
	for _, name := range Table().Names() {
		if _, err := Table().New(name, nil); err != nil {
			t.Error(err)
		}
		if Table().Doc(name) == "" {
			t.Errorf("%s has no line", name)
		}
		if !slices.ContainsFunc(cases, func(c struct {
			spec           config.Spec
			discrete, tame bool
		}) bool {
			return c.spec.Name == name
		}) {
			t.Errorf("%s is in no case", name)
		}
	}
}

// TestInverse checks that quantile and distribution function are inverse functions:
// CDF(Quantile(u)) = u where it is continuous, and the smallest x with CDF(x) >= u everywhere;
// and that both increase.
func TestInverse(t *testing.T) {
	t.Parallel()
	for _, c := range cases {
		d := made(t, c.spec)
		atoms := c.discrete || c.spec.Name == "polylin"
		t.Run(c.spec.Name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				u := rapid.Float64Range(1e-9, 1-1e-9).Draw(t, "u")
				v := rapid.Float64Range(1e-9, 1-1e-9).Draw(t, "v")
				x, y := d.Quantile(u), d.Quantile(v)
				if u < v && x > y || d.CDF(x) > d.CDF(y) != (x > y) && x != y && d.CDF(x) != d.CDF(y) {
					t.Fatalf("%v: not monotone: Q(%v) = %v, Q(%v) = %v", c.spec, u, x, v, y)
				}
				at, below := d.CDF(x), d.CDF(x-1e-9*math.Abs(x)-1e-12)
				if at < u-1e-9 || below > u+1e-9 {
					t.Fatalf("%v: CDF %v at Q(%v) = %v, %v below", c.spec, at, u, x, below)
				}
				if !atoms && math.Abs(at-u) > 1e-9 {
					t.Fatalf("%v: CDF(Q(%v)) = %v", c.spec, u, at)
				}
			})
		})
	}
}

// TestMoments checks mean and variance against the integrals of the tails: E X = a + int (1-F)
// and E (X-a)^2 = int 2 (x-a)(1-F) above the median a, and the same below it.
func TestMoments(t *testing.T) {
	t.Parallel()
	for _, c := range cases {
		d := made(t, c.spec)
		if c.discrete || math.IsInf(d.Variance(), 1) || c.spec.Name == "hypweib" && !c.tame {
			continue // HypWeib has its own test
		}
		a := d.Quantile(0.5)
		lo, hi := d.Quantile(1e-13), d.Quantile(1-1e-15)
		up := func(f func(x float64) float64) float64 { return integrate(f, a, hi) }
		down := func(f func(x float64) float64) float64 { return integrate(f, lo, a) }
		m := up(func(x float64) float64 { return 1 - d.CDF(x) }) - down(d.CDF)
		v := up(func(x float64) float64 { return 2 * (x - a) * (1 - d.CDF(x)) }) +
			down(func(x float64) float64 { return 2 * (a - x) * d.CDF(x) }) - m*m
		m += a
		// The integrals do not include the tails beyond lo and hi.
		if got := d.Mean(); math.Abs(got-m) > 1e-6*(math.Abs(m)+math.Sqrt(v)) {
			t.Errorf("%v: mean %v, by integration %v", c.spec, got, m)
		}
		if got := d.Variance(); math.Abs(got-v) > 2e-5*v {
			t.Errorf("%v: variance %v, by integration %v", c.spec, got, v)
		}
	}
}

// TestDraws compares the moments with 10^5 draws (10^4 if a draw requires a search in gammas),
// within four standard errors.
func TestDraws(t *testing.T) {
	t.Parallel()
	const seed = 20
	src := rand.NewPCG(seed, 0)
	for _, c := range cases {
		if !c.tame {
			continue
		}
		d := made(t, c.spec)
		n := 1e5
		if strings.Contains(c.spec.Name, "gamma") {
			n = 1e4
		}
		mean := d.Mean()
		var s1, s2, s4 float64
		for range int(n) {
			x := Rand(d, src) - mean
			s1 += x
			s2 += x * x
			s4 += x * x * x * x
		}
		m, v := s1/n, s2/n
		if e := 4*math.Sqrt(v/n) + 1e-12; math.Abs(m) > e {
			t.Errorf("seed %d: %v: mean %v is off by %v, allowed %v", seed, c.spec, d.Mean(), m, e)
		}
		if e := 4*math.Sqrt((s4/n-v*v)/n) + 1e-12; math.Abs(v-d.Variance()) > e {
			t.Errorf("seed %d: %v: variance of draws %v, want %v within %v", seed, c.spec, v, d.Variance(), e)
		}
	}
}

// TestPaperNumbers checks the numbers that the paper and the spec print for the distributions
// of §2.
func TestPaperNumbers(t *testing.T) {
	t.Parallel()
	runtime := made(t, config.Spec{Name: "polylin"})
	size := made(t, config.Spec{Name: "binbin"})
	for _, c := range []struct {
		what           string
		got, want, tol float64
	}{
		{"PolyLin below 30 s, less than 7 per cent", runtime.CDF(30), 0.064, 6e-4},
		{"PolyLin reaches 1", runtime.Quantile(1), 104915, 60},
		{"BinBin P(8 CPUs)", size.CDF(8), 0.508 / 0.998, 1e-12},
		{"BinBin largest", size.Quantile(0.999), 256, 0},
	} {
		if math.Abs(c.got-c.want) > c.tol {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
}

// TestHypWeibMean compares mean and variance with a fine sum of quantiles. The mean is 335.92
// s. It is below the 363.77 s of the Blue Horizon's log and the 378.648 s of the exponential
// with which the paper compares it.
func TestHypWeibMean(t *testing.T) {
	t.Parallel()
	d := made(t, config.Spec{Name: "hypweib"})
	const n = 1_000_000
	var s1, s2 float64
	for i := range n {
		x := d.Quantile((float64(i) + 0.5) / n)
		s1 += x
		s2 += x * x
	}
	m := s1 / n
	if got := d.Mean(); math.Abs(got-m) > 1e-5*m || math.Abs(got-335.92) > 0.01 {
		t.Errorf("mean %v, by quantiles %v, want 335.92", got, m)
	}
	if got, want := d.Variance(), s2/n-m*m; math.Abs(got-want) > 1e-3*want {
		t.Errorf("variance %v, by quantiles %v", got, want)
	}
}

// TestHypWeibReading compares the mixture with draws from one or the other of its parts, within
// four standard errors at some values.
func TestHypWeibReading(t *testing.T) {
	t.Parallel()
	const seed = 21
	src := rand.NewPCG(seed, 0)
	d := made(t, config.Spec{Name: "hypweib"})
	x, y := distuv.Weibull{K: 1.3462, Lambda: 16.1489}, distuv.Weibull{K: 4.95969, Lambda: 5.93123}
	at := []float64{0.5, 1, 2, 10, 60, 300, 3600}
	below := make([]float64, len(at))
	const n = 300_000
	for range n {
		z := x.Quantile(Open(src))
		if Open(src) >= 0.29 {
			z = math.Exp(y.Quantile(Open(src)))
		}
		for i := range at {
			if z <= at[i] {
				below[i]++
			}
		}
	}
	for i := range at {
		p := d.CDF(at[i])
		if e := 4 * math.Sqrt(p*(1-p)/n); math.Abs(below[i]/n-p) > e {
			t.Errorf("seed %d: CDF(%v) = %v, drawn %v", seed, at[i], p, below[i]/n)
		}
	}
}

// TestWithin checks the distribution conditioned on an interval.
func TestWithin(t *testing.T) {
	t.Parallel()
	d, err := Within(made(t, config.Spec{Name: "polylin"}), 120, 960)
	if err != nil {
		t.Fatal(err)
	}
	if d.Quantile(1e-12) < 120 || d.Quantile(1-1e-12) > 960 {
		t.Errorf("from %v to %v, want 120 to 960", d.Quantile(1e-12), d.Quantile(1-1e-12))
	}
	const n = 1_000_000
	var s1, s2 float64
	for i := range n {
		x := d.Quantile((float64(i) + 0.5) / n)
		s1 += x
		s2 += x * x
	}
	m := s1 / n
	if got := d.Mean(); math.Abs(got-m) > 1e-7*m {
		t.Errorf("mean %v, by quantiles %v", got, m)
	}
	if got, want := d.Variance(), s2/n-m*m; math.Abs(got-want) > 1e-6*want {
		t.Errorf("variance %v, by quantiles %v", got, want)
	}
	if _, err := Within(d, 0, 100); err == nil {
		t.Error("an interval of no weight is accepted")
	}
}

// TestErrors checks that options out of range, and unknown ones, are rejected by name.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec config.Spec
		want string
	}{
		{spec("cauchy", nil), `unknown distribution "cauchy", want one of binbin, constant,`},
		{spec("weibull", map[string]any{"shap": 1}), "shap"},
		{spec("weibull", map[string]any{"shape": 0}), "shape: found 0"},
		{spec("gamma", map[string]any{"scale": math.NaN()}), "scale: found NaN"},
		{spec("exponential", map[string]any{"mean": math.Inf(1)}), "mean: found +Inf"},
		{spec("uniform", map[string]any{"min": 2}), "max 1 is not more than min 2"},
		{spec("hypweib", map[string]any{"alpha": 1.5}), "alpha: found 1.5"},
		{spec("hypergamma", map[string]any{"p": -1}), "p: found -1"},
		{spec("polylin", map[string]any{"c": -5}), "does not reach 1"},
		{spec("polylin", map[string]any{"min": 1e6}), "not below the largest runtime"},
		{spec("binbin", map[string]any{"weights": []float64{0, 0}}), "the weights sum to 0"},
		{spec("binbin", map[string]any{"weights": []float64{1, -1}}), "weight 2: found -1"},
		{spec("zipf", map[string]any{"n": 0}), "n: found 0"},
		{spec("truncnormal", map[string]any{"min": 100}), "no mass above 100"},
		{spec("within", map[string]any{"of": "weibul", "max": 2}), `unknown distribution "weibul"`},
		{spec("within", map[string]any{"of": "polylin", "max": 2}), "no mass in 0 to 2"},
		{spec("mixture", map[string]any{"a": map[string]any{"name": "pareto", "options": map[string]any{"shape": 0}}}), "shape: found 0"},
		{spec("truncnormal", map[string]any{"min": 3, "max": 2}), "max 2 is not more than min 3"},
	} {
		if _, err := Table().New(c.spec.Name, c.spec.Decode); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %s", c.spec, err, c.want)
		}
	}
}

// TestOpen checks that the uniforms are never 0 or 1.
func TestOpen(t *testing.T) {
	t.Parallel()
	if lo, hi := Open(constant(0)), Open(constant(math.MaxUint64)); !(lo > 0 && hi < 1) {
		t.Errorf("uniforms from %v to %v", lo, hi)
	}
}

type constant uint64

func (c constant) Uint64() uint64 { return uint64(c) }

// TestNoAllocation checks that sampling allocates nothing.
func TestNoAllocation(t *testing.T) {
	src := rand.NewPCG(1, 1)
	for _, c := range cases {
		d := made(t, c.spec)
		if n := testing.AllocsPerRun(100, func() { Rand(d, src) }); n != 0 {
			t.Errorf("%v: %v allocations a draw", c.spec, n)
		}
	}
}

// BenchmarkHypWeib compares the time of a draw with that of a simple search on the same
// distribution function.
func BenchmarkHypWeib(b *testing.B) {
	d := made(b, config.Spec{Name: "hypweib"})
	src := rand.NewPCG(1, 1)
	sum := 0.0
	for range b.N {
		sum += Rand(d, src)
	}
	fast := b.Elapsed()
	for range b.N {
		sum += solve(d.CDF, Open(src), 0, 1e6)
	}
	b.ReportMetric(float64(fast.Nanoseconds())/float64(b.N), "ns/draw")
	b.ReportMetric(float64(b.Elapsed()-fast)/float64(fast), "x-faster-than-search")
}
