package forecast

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"bourse/market"
)

// A step is a price and the time from which it applies.
type step struct {
	at    float64
	price market.Rate
}

// TestForecasters checks F⁻¹(g) against hand-computed values, for a price with mean 2 and
// deviation 1 (half the window at 1, half at 3), for a skewed price with mean 1 and deviation
// √3 (three quarters at 0, the rest at 4), and for a constant price.
func TestForecasters(t *testing.T) {
	t.Parallel()
	histories := map[string][]step{
		"even":     {{0, 1e9}, {50, 3e9}},
		"lopsided": {{25, 4e9}, {50, 0}},
		"still":    {{0, 5e9}},
		"nothing":  nil,
	}
	q := (math.Exp2(-2.5) - math.Exp2(-3.75)) / (1 - math.Exp2(-5))
	for _, c := range []struct {
		forecaster, history string
		g, want             float64
	}{
		{"chebyshev", "even", 0.5, 3},
		{"chebyshev", "even", 0.6, 2 + math.Sqrt(1.5)},
		{"chebyshev", "even", 0.9, 5},
		{"chebyshev", "lopsided", 0.75, 4},
		{"chebyshev", "still", 0.99, 5},
		{"chebyshev", "nothing", 0.6, 0},
		{"chebyshev-two-sided", "even", 0.75, 4},
		{"chebyshev-two-sided", "lopsided", 0.75, 1 + 2*math.Sqrt(3)},
		{"chebyshev-two-sided", "still", 0.99, 5},
		{"normal", "even", 0.5, 2},
		{"normal", "even", 0.6, 2.2533471031357997},   // 2 + Φ⁻¹(0.6), from a table
		{"normal", "even", 0.975, 3.9599639845400543}, // 2 + Φ⁻¹(0.975)
		{"normal", "still", 0.01, 5},
		// Half-life 20 s, ages 0 to 50 s at 3 and 50 to 100 s at 1: weights 1 - 2^(-50/20) and
		// 2^(-50/20) - 2^(-100/20) have the ratio 1 to 2^(-50/20).
		{"ewma", "even", 0.5, 2 + (1-math.Exp2(-2.5))/(1+math.Exp2(-2.5))},
		{"ewma", "even", 0.975, 2 + (1-math.Exp2(-2.5))/(1+math.Exp2(-2.5)) + 1.9599639845400543*2*math.Exp2(-1.25)/(1+math.Exp2(-2.5))},
		// Ages 0 to 50 s at 0, to 75 s at 4 and to 100 s at 0: the price was 4 for a fraction
		// q, which is 2^(-50/20) - 2^(-75/20) divided by 1 - 2^(-100/20), so the deviation is 4
		// √(q(1-q)).
		{"ewma", "lopsided", 0.5, 4 * q},
		{"ewma", "lopsided", 0.975, 4*q + 1.9599639845400543*4*math.Sqrt(q*(1-q))},
		{"ewma", "still", 0.99, 5},
		{"ewma", "nothing", 0.6, 0},
		// With a lag of 30 s, 1 is followed by 1 or 3, and 3 always by 3. The current price is
		// 3.
		{"quantile", "even", 0.3, 3},
		{"quantile", "even", 0.9, 3},
		// 0 is followed by 0 or 4, and 4 always by 0. The current price is 0. Of the 30 pairs,
		// which begin at 0, 2.4, .. 70 s, 20 start with the price 0 (those not in [25,50)), and
		// 9 of these lead to 4.
		{"quantile", "lopsided", 0.3, 0},
		{"quantile", "lopsided", 0.9, 4},
		{"quantile", "still", 0.01, 5},
		{"quantile", "nothing", 0.6, 0},
		{"conformal", "still", 0.6, 5},
		{"conformal", "nothing", 0.6, 0},
		{"empirical", "even", 0.5, 1},
		{"empirical", "even", 0.51, 3},
		{"empirical", "even", 0.99, 3},
		{"empirical", "lopsided", 0.6, 0},
		{"empirical", "lopsided", 0.75, 0},
		{"empirical", "lopsided", 0.76, 4},
		{"empirical", "still", 0.01, 5},
		{"empirical", "nothing", 0.6, 0},
	} {
		f, err := Table().New(c.forecaster, nil)
		if err != nil {
			t.Fatal(err)
		}
		h, _ := market.NewHistory(100)
		for _, s := range histories[c.history] {
			h.Observe(s.at, s.price)
		}
		if got := f.Percentile(&h, 100, c.g); !(math.Abs(got-c.want) <= 1e-13) { // The condition also fails for NaN.
			t.Errorf("%s of %s at %v = %v, want %v", c.forecaster, c.history, c.g, got, c.want)
		}
	}
}

// TestEmpiricalNow checks that the empirical percentile is the current price if the window has
// no length, and that prices in force for no time are ignored.
func TestEmpiricalNow(t *testing.T) {
	t.Parallel()
	f, _ := Table().New("empirical", nil)
	var h market.History
	h.Observe(0, 7e9)
	if got := f.Percentile(&h, 0, 0.6); got != 7 {
		t.Errorf("percentile at the origin = %v, want 7", got)
	}
	h.Observe(10, 9e9)
	if got := f.Percentile(&h, 10, 0.99); got != 7 {
		t.Errorf("percentile as the price changes = %v, want 7", got)
	}
}

// TestEmpiricalDust checks that a price in force for exactly a fraction g of the window is the
// percentile, even if g times the window is rounded up: in float64, 0.56 times 300 s is
// 168.00000000000003 s.
func TestEmpiricalDust(t *testing.T) {
	t.Parallel()
	f, _ := Table().New("empirical", nil)
	var h market.History
	h.Observe(0, 9e9)
	h.Observe(132, 7e9)
	if got := f.Percentile(&h, 300, 0.56); got != 7 {
		t.Errorf("percentile = %v, want 7, which stood for 168 s of 300", got)
	}
	if got := f.Percentile(&h, 300, 0.5601); got != 9 {
		t.Errorf("percentile = %v, want 9", got)
	}
}

// TestForecasterTable checks that each name creates a forecaster and has a description, that
// decode is called, and that an unknown name is rejected.
func TestForecasterTable(t *testing.T) {
	t.Parallel()
	want := []string{"chebyshev", "chebyshev-two-sided", "conformal", "empirical", "ewma", "normal", "quantile"}
	if got := Table().Names(); !slices.Equal(got, want) {
		t.Errorf("names = %v, want %v", got, want)
	}
	unknown := errors.New("unknown option")
	for _, name := range Table().Names() {
		if Table().Doc(name) == "" {
			t.Errorf("%s: no doc", name)
		}
		if _, err := Table().New(name, func(any) error { return unknown }); !errors.Is(err, unknown) {
			t.Errorf("%s with an unknown option: error %v, want %v", name, err, unknown)
		}
	}
	if got := Table().Doc("normal"); !strings.Contains(got, "Normal") {
		t.Errorf("normal: %q", got)
	}
	if got := Table().Doc("oracle"); got != "" {
		t.Errorf("oracle: %q", got)
	}
	if _, err := Table().New("oracle", nil); err == nil {
		t.Error("forecaster oracle: no error")
	}
}
