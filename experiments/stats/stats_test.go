package stats_test

import (
	"math"
	"strings"
	"testing"

	oracle "github.com/aclements/go-moremath/stats"
	"pgregory.net/rapid"

	"bourse/experiments/stats"
)

// extra is the additional sleep that two drugs gave ten patients (Student 1908, R's data
// set "sleep").
var extra = [2][]float64{
	{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0},
	{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4},
}

// TestCriticalT compares the quantiles of Student's t with printed tables. They include the
// paper's 2.1318, one-sided 5 % for 4 degrees of freedom.
func TestCriticalT(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		level float64
		df    int
		want  float64
	}{
		{0.05, 4, 2.131847},
		{0.05, 1, 6.313752}, {0.05, 2, 2.919986}, {0.05, 3, 2.353363}, {0.05, 9, 1.833113}, {0.05, 30, 1.697261},
		{0.025, 1, 12.706205}, {0.025, 4, 2.776445}, {0.025, 9, 2.262157}, {0.025, 59, 2.000995}, {0.025, 120, 1.979930},
		{0.01, 4, 3.746947}, {0.005, 4, 4.604095}, {0.5, 7, 0}, {0.95, 4, -2.131847},
	} {
		near(t, "critical t", stats.CriticalT(c.level, c.df), c.want, 1e-6)
	}
	near(t, "the paper's", stats.CriticalT(0.05, 4), 2.1318, 5e-5)
}

// TestCauchy compares extreme quantiles with the closed form for one degree of freedom,
// tan(pi (1/2 - level)).
func TestCauchy(t *testing.T) {
	t.Parallel()
	for _, level := range []float64{1e-6, 1e-4, 0.01, 0.2, 0.4} {
		want := math.Tan(math.Pi * (0.5 - level))
		near(t, "critical t", stats.CriticalT(level, 1)/want, 1, 1e-8)
	}
}

// TestSummarize checks the mean, deviation and interval of the differences in the sleep
// data, as printed by R's t.test. It also checks NIST's NumAcc4, whose values agree in
// eight digits (certified mean 10000000.2, deviation 0.1).
func TestSummarize(t *testing.T) {
	t.Parallel()
	diffs := make([]float64, 10)
	for i := range diffs {
		diffs[i] = extra[0][i] - extra[1][i]
	}
	s := stats.Summarize(diffs, stats.Quantity{})
	near(t, "mean", s.Mean, -1.58, 1e-12)
	near(t, "sd", s.SD, 1.229995, 1e-6)
	near(t, "lo95", s.Lo95, -2.4598858, 1e-7)
	near(t, "hi95", s.Hi95, -0.7001142, 1e-7)

	numacc4 := []float64{10000000.2}
	for range 500 {
		numacc4 = append(numacc4, 10000000.1, 10000000.3)
	}
	s = stats.Summarize(numacc4, stats.Quantity{})
	near(t, "NumAcc4 mean", s.Mean, 10000000.2, 2e-9) // one unit in the last place is 1.9e-9 here
	near(t, "NumAcc4 sd", s.SD, 0.1, 1e-8)
}

// TestSummarizeFew checks that zero values and one value have no interval and no NaN.
func TestSummarizeFew(t *testing.T) {
	t.Parallel()
	if got, want := stats.Summarize(nil, stats.Quantity{}), (stats.Summary{}); got != want || got.HasInterval() {
		t.Errorf("of nothing = %v, want %v without interval", got, want)
	}
	if got, want := stats.Summarize([]float64{7}, stats.Quantity{}), (stats.Summary{N: 1, Mean: 7}); got != want || got.HasInterval() {
		t.Errorf("of one = %v, want %v without interval", got, want)
	}
	if got := stats.Summarize([]float64{3, 3}, stats.Quantity{}); got != (stats.Summary{N: 2, Mean: 3}) || got.HasInterval() || !got.HasDeviation() {
		t.Errorf("of two equal = %v, want a deviation of 0 and no interval", got)
	}
}

// TestSummarizeOracle compares the mean, deviation and interval with go-moremath.
func TestSummarizeOracle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		xs := samples(2, 40).Draw(t, "xs")
		s := stats.Summarize(xs, stats.Quantity{})
		mean, lo, hi := oracle.MeanCI(xs, 0.95)
		near(t, "mean", s.Mean, mean, 1e-9)
		near(t, "sd", s.SD, oracle.StdDev(xs), 1e-9)
		if s.SD == 0 {
			if s.HasInterval() {
				t.Errorf("of equal values %v: an interval", xs)
			}
			return
		}
		near(t, "lo", s.Lo95, lo, 1e-6)
		near(t, "hi", s.Hi95, hi, 1e-6)
	})
}

// TestPairedT checks the sleep data, for which R's t.test(paired = TRUE) prints t =
// -4.0621, df = 9, p = 0.002833.
func TestPairedT(t *testing.T) {
	t.Parallel()
	got, ok := stats.PairedT(extra[1], extra[0])
	if !ok || got.DF != 9 || !got.Significant() {
		t.Fatalf("paired t = %+v, %v, want 9 degrees of freedom and significance", got, ok)
	}
	near(t, "mean", got.Mean, 1.58, 1e-12)
	near(t, "t", got.T, 4.062128, 1e-6)
	near(t, "two-sided p", got.TwoSided, 0.002832890, 1e-8)
	near(t, "one-sided p", got.Greater, 0.001416445, 1e-8)
	near(t, "critical", got.Critical, 1.833113, 1e-6)
	back, _ := stats.PairedT(extra[0], extra[1])
	if back.T != -got.T || back.TwoSided != got.TwoSided || back.Significant() {
		t.Errorf("reversed = %+v, want the opposite of %+v, not significant", back, got)
	}
	near(t, "one-sided p reversed", back.Greater, 1-got.Greater, 1e-12)
}

// TestPairedTOracle compares t and all three p-values with go-moremath and checks that the
// critical value and the p-value agree.
func TestPairedTOracle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		xs := samples(2, 20).Draw(t, "xs")
		ys := samples(len(xs), len(xs)).Draw(t, "ys")
		got, ok := stats.PairedT(xs, ys)
		if !ok {
			return
		}
		want, err := oracle.PairedTTest(xs, ys, 0, oracle.LocationGreater)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "t", got.T, want.T, 1e-6*(1+math.Abs(want.T)))
		near(t, "greater", got.Greater, want.P, 1e-6)
		two, _ := oracle.PairedTTest(xs, ys, 0, oracle.LocationDiffers)
		near(t, "two-sided", got.TwoSided, two.P, 1e-6)
		if math.Abs(got.Greater-0.05) > 1e-6 && got.Significant() != (got.Greater < 0.05) {
			t.Errorf("significant = %v at p = %v", got.Significant(), got.Greater)
		}
	})
}

// TestPairedTUndefined checks that a test is undefined, not infinite, if its differences do
// not vary or if there are fewer than two pairs.
func TestPairedTUndefined(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2][]float64{
		"no pair":             {},
		"one pair":            {{1}, {2}},
		"same samples":        {{1, 2, 3}, {1, 2, 3}},
		"shifted by a tenth":  {{0.3, 0.4, 0.8}, {0.2, 0.3, 0.7}},
		"constant difference": {{1, 1, 1}, {0, 0, 0}},
		"off by rounding":     {{3e6 + 0.3, 4e6 + 0.3, 8e6 + 0.3}, {3e6, 4e6, 8e6}},
	} {
		if got, ok := stats.PairedT(c[0], c[1]); ok || got != (stats.TTest{}) {
			t.Errorf("%s: %+v, %v, want undefined", name, got, ok)
		}
	}
}

// TestPearson checks Anscombe's quartet (1973), four data sets with the same correlation.
// The digits are from R.
func TestPearson(t *testing.T) {
	t.Parallel()
	x := []float64{10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5}
	x4 := []float64{8, 8, 8, 8, 8, 8, 8, 19, 8, 8, 8}
	for _, c := range []struct {
		x, y []float64
		want float64
	}{
		{x, []float64{8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68}, 0.8164205},
		{x, []float64{9.14, 8.14, 8.74, 8.77, 9.26, 8.10, 6.13, 3.10, 9.13, 7.26, 4.74}, 0.8162365},
		{x, []float64{7.46, 6.77, 12.74, 7.11, 7.81, 8.84, 6.08, 5.39, 8.15, 6.42, 5.73}, 0.8162867},
		{x4, []float64{6.58, 5.76, 7.71, 8.84, 8.47, 7.04, 5.25, 12.50, 5.56, 7.91, 6.89}, 0.8165214},
	} {
		got, ok := stats.Pearson(c.x, c.y)
		if !ok {
			t.Fatal("undefined")
		}
		near(t, "r", got, c.want, 5e-8)
	}
}

// TestPearsonUndefined checks that the correlation with a constant series is undefined,
// even if the series has noise below rounding.
func TestPearsonUndefined(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2][]float64{
		"empty":          {},
		"one point":      {{1}, {1}},
		"constant":       {{1, 2, 3}, {4, 4, 4}},
		"rounding alone": {{0.3, 0.1 + 0.2, 0.3}, {1, 2, 3}},
		"squares vanish": {{1e-200, 2e-200, 3e-200}, {1, 2, 3}},
	} {
		if got, ok := stats.Pearson(c[0], c[1]); ok || got != 0 {
			t.Errorf("%s: %v, %v, want undefined", name, got, ok)
		}
	}
}

// TestPearsonLaws checks that the correlation is in [-1,1] and symmetric, and that it is 1
// or -1 for a series and a linear function of it.
func TestPearsonLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		xs := samples(2, 30).Draw(t, "xs")
		ys := samples(len(xs), len(xs)).Draw(t, "ys")
		r, ok := stats.Pearson(xs, ys)
		if back, again := stats.Pearson(ys, xs); back != r || again != ok || math.Abs(r) > 1 {
			t.Errorf("r = %v one way, %v the other", r, back)
		}
		line := make([]float64, len(xs))
		for i, x := range xs {
			line[i] = 5 - 2*x
		}
		if r, ok := stats.Pearson(xs, line); ok {
			near(t, "r of a falling line", r, -1, 1e-6)
		}
	})
}

// TestRefusals checks that each violated precondition causes a panic, not a NaN.
func TestRefusals(t *testing.T) {
	t.Parallel()
	nan, inf := math.NaN(), math.Inf(1)
	for name, f := range map[string]func(){
		"summary of NaN":      func() { stats.Summarize([]float64{1, nan}, stats.Quantity{}) },
		"summary of one NaN":  func() { stats.Summarize([]float64{nan}, stats.Quantity{}) },
		"summary of infinity": func() { stats.Summarize([]float64{1, inf}, stats.Quantity{}) },
		"pairs of NaN":        func() { stats.PairedT([]float64{1, nan}, []float64{1, 2}) },
		"unpaired":            func() { stats.PairedT([]float64{1, 2}, []float64{1}) },
		"unpaired the other":  func() { stats.PairedT([]float64{1, 2}, []float64{1, 2, 3}) },
		"correlated NaN":      func() { stats.Pearson([]float64{1, nan}, []float64{1, 2}) },
		"different lengths":   func() { stats.Pearson([]float64{1, 2}, []float64{1}) },
		"level 0":             func() { stats.CriticalT(0, 4) },
		"no freedom":          func() { stats.CriticalT(0.05, 0) },
	} {
		func() {
			defer func() {
				if why, ok := recover().(string); !ok || !strings.HasPrefix(why, "stats: ") {
					t.Errorf("%s: no panic of ours, %q", name, why)
				}
			}()
			f()
		}()
	}
}

// samples returns between least and most random numbers of moderate size.
func samples(least, most int) *rapid.Generator[[]float64] {
	return rapid.SliceOfN(rapid.Map(rapid.IntRange(-1000, 1000), func(i int) float64 { return float64(i) / 8 }), least, most)
}

func near(t interface {
	Helper()
	Errorf(string, ...any)
}, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v within %v", what, got, want, tolerance)
	}
}
