package memory

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"bourse/workloadgen/dist"
	"bourse/workloadgen/swf"
)

var estimators = map[string]func([]float64) Estimate{
	"R/S": RescaledRange, "aggregated variance": AggregatedVariance, "local Whittle": LocalWhittle,
}

// TestNoise checks the distribution of the noise over many series: it is standard normal, and
// its correlation at distance k is (|k+1|^2H - 2|k|^2H + |k-1|^2H)/2.
func TestNoise(t *testing.T) {
	t.Parallel()
	src := rand.NewPCG(2, 3)
	const n, series = 64, 2000
	for _, h := range []float64{0.3, 0.5, 0.735, 0.9} {
		var sum [4]float64
		for range series {
			x := Noise(n, h, src)
			for k := range sum {
				sum[k] += x[40] * x[40+k]
			}
		}
		for k, s := range sum {
			got, want := s/series, covariance(float64(k), h)
			if e := 4 * math.Sqrt(2./series); math.Abs(got-want) > e {
				t.Errorf("h %v: covariance at %d is %v, want %v within %v", h, k, got, want, e)
			}
		}
	}
}

// TestEstimators checks that each estimator finds the exponent of fractional noise. R/S is
// biased towards 0.55 in short blocks, so its tolerance is larger.
func TestEstimators(t *testing.T) {
	t.Parallel()
	for name, estimate := range estimators {
		allowed := map[string]float64{"R/S": 0.13, "aggregated variance": 0.08, "local Whittle": 0.04}[name]
		for _, h := range []float64{0.3, 0.5, 0.735, 0.9} {
			sum := 0.0
			for seed := range uint64(5) {
				sum += estimate(Noise(1<<13, h, rand.NewPCG(seed, 1))).H
			}
			if got := sum / 5; math.Abs(got-h) > allowed {
				t.Errorf("%s: mean %v of five series of exponent %v", name, got, h)
			}
		}
		if e := estimate(make([]float64, 1000)); !math.IsNaN(e.H) {
			t.Errorf("%s: %v of a constant", name, e)
		}
		if e := estimate([]float64{1, 2, 3}); !math.IsNaN(e.H) {
			t.Errorf("%s: %v of three values", name, e)
		}
	}
}

// TestTarget checks that the paper's inter-arrival times get the exponent of the trace, 0.735,
// without changes to the values.
func TestTarget(t *testing.T) {
	t.Parallel()
	d, err := dist.NewHypWeib(dist.BlueHorizonIAT())
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(2) {
		src := rand.NewPCG(seed, 0)
		values := make([]float64, 10000)
		for i := range values {
			values[i] = dist.Rand(d, src)
		}
		got, err := Target(values, 0.735, RescaledRange, src)
		if err != nil {
			t.Fatal(err)
		}
		if h := RescaledRange(got).H; math.Abs(h-0.735) > 0.005 {
			t.Errorf("seed %d: exponent %v, want 0.735", seed, h)
		}
		if !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(values))) {
			t.Errorf("seed %d: values have changed", seed)
		}
	}
	if _, err := Target([]float64{1, 2}, 0.7, RescaledRange, rand.NewPCG(1, 1)); err == nil {
		t.Error("two values got a memory")
	}
}

// TestOrders checks that arranging only changes the order, whatever the series.
func TestOrders(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.Float64Range(0, 100)).Draw(t, "values")
		src := rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)
		want := slices.Sorted(slices.Values(values))
		got := Arrange(values, 0.8, src)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Fatalf("Arrange changed the values %v to %v", want, got)
		}
	})
}

// TestAutocorrelation compares the autocorrelation with gonum's correlation.
func TestAutocorrelation(t *testing.T) {
	t.Parallel()
	values := Arrange(Noise(5000, 0.5, rand.NewPCG(5, 5)), 0.9, rand.NewPCG(6, 6))
	a, want := Autocorrelation(values, 1), stat.Correlation(values[1:], values[:len(values)-1], nil)
	if a[0] != 1 || math.Abs(a[1]-want) > 1e-2 || want < 0.1 {
		t.Errorf("autocorrelation %v, want about 1 and %v", a, want)
	}
}

// TestBlueHorizon prints the exponents of the trace for which the paper measured 0.735 by R/S,
// and checks that all estimators find a long memory.
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
	var gaps []float64
	for i := 1; i < len(trace.Records); i++ {
		gaps = append(gaps, trace.Records[i].Submit-trace.Records[i-1].Submit)
	}
	for name, estimate := range estimators {
		e := estimate(gaps)
		t.Logf("%s: %.3f +- %.3f", name, e.H, e.SE)
		if e.H < 0.6 || e.H > 0.95 {
			t.Errorf("%s: exponent %v", name, e.H)
		}
	}
	if h := RescaledRange(gaps).H; math.Abs(h-0.735) > 0.05 {
		t.Errorf("R/S %v, the paper 0.735", h)
	}
}
