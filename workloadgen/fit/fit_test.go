package fit

import (
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"bourse/workloadgen/config"
	"bourse/workloadgen/dist"
	"bourse/workloadgen/swf"
)

// recoverySeeds is the number of samples that TestRecovery fits, from seed 0 on, and
// recoveryDraws is the number of draws in each. For mixtures, which take longer to fit, both
// numbers are a tenth of these. The nightly tests draw 10^5.
const recoverySeeds = 20

// TestRecovery checks that fits to draws from a known distribution find its parameters within
// three standard errors. One sample in 370 misses by chance, so the test permits as many misses
// as occur with a probability of one in a million. It also checks for bias: the mean error, in
// standard errors, must be within 4.5 of its own standard errors.
func TestRecovery(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fit   string
		law   config.Spec
		want  []float64 // values in the order of the fit's parameters
		draws int
	}{
		{"exponential", options("exponential", "mean", 378.648), []float64{378.648}, recoveryDraws},
		{"weibull", options("weibull", "shape", 0.7, "scale", 300.0), []float64{0.7, 300}, recoveryDraws},
		{"weibull", options("weibull", "shape", 4.95969, "scale", 5.93123), []float64{4.95969, 5.93123}, recoveryDraws},
		{"gamma", options("gamma", "shape", 4.2, "scale", 0.94), []float64{4.2, 0.94}, recoveryDraws},
		{"gamma", options("gamma", "shape", 0.45, "scale", 1000.0), []float64{0.45, 1000}, recoveryDraws},
		{"lognormal", options("lognormal", "mu", 7.9, "sigma", 2.1), []float64{7.9, 2.1}, recoveryDraws},
		{"pareto", options("pareto", "shape", 1.16, "min", 2.0), []float64{1.16}, recoveryDraws},
		{"gpareto", options("gpareto", "k", 1.77332, "sigma", 213.171), []float64{1.77332, 213.171}, recoveryDraws},
		{"gpareto", options("gpareto", "k", 0.3, "sigma", 5.0), []float64{0.3, 5}, recoveryDraws},
		{"zipf", options("zipf", "s", 1.4), []float64{1.4}, recoveryDraws},
		{"binbin", options("binbin"), []float64{0.508 / 0.998, 0.144 / 0.998, 0.126 / 0.998, 0.137 / 0.998, 0.048 / 0.998, 0.035 / 0.998}, recoveryDraws},
		{"hyperexp", mixed("exponential", 0.3, "mean", 5.0, 500.0), []float64{0.3, 5, 500}, recoveryDraws / 10},
		{"hypergamma", options("hypergamma", "p", 0.7, "shape1", 4.2, "scale1", 0.94, "shape2", 312.0, "scale2", 0.03), []float64{0.7, 4.2, 0.94, 312, 0.03}, recoveryDraws / 10},
		{"hypweib", options("hypweib"), []float64{0.29, 1.3462, 16.1489, 4.95969, 5.93123}, recoveryDraws / 10},
	} {
		t.Run(c.fit, func(t *testing.T) {
			t.Parallel()
			law, err := dist.Table().New(c.law.Name, c.law.Decode)
			if err != nil {
				t.Fatal(err)
			}
			errors := make([]float64, len(c.want)) // sums, in standard errors
			misses, limit := 0, 1.95/math.Sqrt(float64(c.draws))
			far := 0 // number of distances that Kolmogorov's test would reject at 0.1 %
			for seed := range uint64(recoverySeeds) {
				src := rand.NewPCG(seed, 18)
				values := make([]float64, c.draws)
				for i := range values {
					values[i] = dist.Rand(law, src)
				}
				s, err := NewSample(values)
				if err != nil {
					t.Fatal(err)
				}
				f, err := New(c.fit, s, PaperOptions())
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				for i, want := range c.want {
					p := f.Params[i]
					z := (p.Value - want) / p.SE
					errors[i] += z
					if !(math.Abs(z) <= 3) {
						misses++
						t.Logf("seed %d: %s %v +- %v, want %v", seed, p.Name, p.Value, p.SE, want)
					}
				}
				if f.KS > limit {
					far++
				}
				if f.N != c.draws || math.Abs(f.AIC-2*float64(len(f.Params))+2*f.LogLik) > 1e-6 {
					t.Errorf("seed %d: n %d, AIC %v of log likelihood %v", seed, f.N, f.AIC, f.LogLik)
				}
			}
			if most := byChance(recoverySeeds*len(c.want), 0.0027); misses > most {
				t.Errorf("seeds 0 to %d: %d misses, want at most %d", recoverySeeds-1, misses, most)
			}
			if most := byChance(recoverySeeds, 0.001); far > most {
				t.Errorf("seeds 0 to %d: %d distances above %v, want at most %d", recoverySeeds-1, far, limit, most)
			}
			for i, sum := range errors {
				if mean := sum / math.Sqrt(recoverySeeds); !(math.Abs(mean) <= 4.5) {
					t.Errorf("seeds 0 to %d: parameter %d is off by %v standard errors of the mean", recoverySeeds-1, i, mean)
				}
			}
		})
	}
}

// byChance returns the number of events, of n with probability p each, that is exceeded with a
// probability of one in a million.
func byChance(n int, p float64) int {
	b := distuv.Binomial{N: float64(n), P: p}
	k := 0
	for 1-b.CDF(float64(k)) > 1e-6 {
		k++
	}
	return k
}

func mixed(name string, p float64, param string, a, b float64) config.Spec {
	part := func(x float64) map[string]any {
		return map[string]any{"name": name, "options": map[string]any{param: x}}
	}
	return options("mixture", "p", p, "a", part(a), "b", part(b))
}

// TestPolyLin checks that least squares find the parabola whose quantiles are given, and that
// values below From are reported.
func TestPolyLin(t *testing.T) {
	t.Parallel()
	law, err := dist.NewPolyLin(dist.BlueHorizonRuntime())
	if err != nil {
		t.Fatal(err)
	}
	const n = 100_000
	values := make([]float64, n)
	for i := range values {
		values[i] = law.Quantile((float64(i) + 0.5) / n)
		if values[i] == 30 {
			values[i] = 10
		}
	}
	s, err := NewSample(values)
	if err != nil {
		t.Fatal(err)
	}
	f, err := New("polylin", s, PaperOptions())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{-0.0125, 0.3018, -0.8184} {
		if p := f.Params[i]; math.Abs(p.Value-want) > 1e-4 {
			t.Errorf("%s = %v, want %v", p.Name, p.Value, want)
		}
	}
	if f.Note != "6.3 % of the values are below 30" {
		t.Errorf("note %q", f.Note)
	}
}

// TestErrors checks that the errors for samples that cannot be fitted state the reason.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fit    string
		values []float64
		want   string
	}{
		{"cauchy", []float64{1, 2}, `unknown fit "cauchy", want one of binbin,`},
		{"weibull", []float64{3, 3, 3}, "fit weibull: all values are the same"},
		{"gamma", []float64{3, 3, 3}, "all values are the same"},
		{"lognormal", []float64{0, 0}, "all values are the same"},
		{"exponential", []float64{-1, 2}, "value -1 is negative"},
		{"polylin", []float64{1, 2, 3, 4}, "no values above 30"},
		{"binbin", []float64{0, 8}, "value 0 is not above 0"},
		{"hypweib", []float64{5}, ""},
	} {
		s, err := NewSample(c.values)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(c.fit, s, PaperOptions()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %v: error %v, want %s", c.fit, c.values, err, c.want)
		}
	}
	for _, values := range [][]float64{nil, {math.NaN()}, {1, math.Inf(1)}} {
		if _, err := NewSample(values); err == nil {
			t.Errorf("%v is a sample", values)
		}
	}
}

// TestEvery checks that the distribution of every fit can be created from its specification,
// for values like those of a log: whole seconds, some of them 0.
func TestEvery(t *testing.T) {
	t.Parallel()
	src := rand.NewPCG(3, 3)
	d, _ := dist.NewHypWeib(dist.BlueHorizonIAT())
	values := make([]float64, 5000)
	for i := range values {
		values[i] = math.Floor(dist.Rand(d, src))
	}
	for _, name := range Names() {
		sample := values
		if name == "binbin" || name == "zipf" {
			sample = []float64{8, 8, 8, 16, 16, 64, 24, 1000}
		}
		s, err := NewSample(sample)
		if err != nil {
			t.Fatal(err)
		}
		f, err := New(name, s, PaperOptions())
		if err != nil {
			t.Error(err)
			continue
		}
		if f.Name != name || f.N != len(sample) || !(f.KS > 0 && f.KS < 1) || len(f.Params) == 0 {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestBlueHorizon fits every distribution to the trace of the paper and prints the results. For
// the paper's own distributions, a fit must not be worse than the paper's parameters by more
// than 0.01. HypWeib must fit better than every standard distribution.
func TestBlueHorizon(t *testing.T) {
	t.Parallel()
	const path = "../../../shared/traces/SDSC-BLUE-2000-4.1-cln.valid.swf.gz"
	trace, err := swf.ReadFile(path)
	if os.IsNotExist(err) {
		t.Skipf("no recorded trace %s", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	var iat, run, cpu []float64
	for i, r := range trace.Records {
		if i > 0 {
			iat = append(iat, r.Submit-trace.Records[i-1].Submit)
		}
		run, cpu = append(run, r.Run), append(cpu, float64(r.Procs))
	}
	for _, c := range []struct {
		what   string
		values []float64
		fits   string
	}{
		{"IAT", iat, "exponential weibull gamma lognormal gpareto hypweib"},
		{"RUN", run, "exponential weibull gamma lognormal gpareto lognormal2 polylin"},
		{"CPU", cpu, "binbin zipf"},
	} {
		s, err := NewSample(c.values)
		if err != nil {
			t.Fatal(err)
		}
		nearest := 1.0
		for name := range strings.FieldsSeq(c.fits) {
			start := time.Now()
			f, err := New(name, s, PaperOptions())
			if err != nil {
				t.Error(err)
				continue
			}
			t.Logf("%s %s: %.4v, log likelihood %.0f, AIC %.0f, KS %.4f %s (%d distinct, %v)",
				c.what, name, f.Params, f.LogLik, f.AIC, f.KS, f.Note, len(s.X), time.Since(start).Round(time.Millisecond))
			if most, ok := map[string]float64{"hypweib": 0.065, "polylin": 0.09, "binbin": 0.0275, "gpareto": 0.12, "lognormal2": 0.06}[name]; ok && f.KS > most {
				t.Errorf("%s: distance %v", name, f.KS)
			}
			nearest = min(nearest, f.KS)
			if name == "hypweib" && f.KS > nearest {
				t.Errorf("hypweib: distance %v, a standard law's is %v", f.KS, nearest)
			}
		}
	}
}
