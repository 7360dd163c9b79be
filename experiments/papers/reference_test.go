package papers

import (
	"math"
	"testing"
)

// TestRounding checks that half a unit refers to the last printed digit, including a final 0.
func TestRounding(t *testing.T) {
	t.Parallel()
	for text, want := range map[Digits]float64{"0.80": 0.005, "0.6": 0.05, "1": 0.5, "83.43": 0.005} {
		if got := text.rounding(); math.Abs(got-want) > 1e-15 {
			t.Errorf("rounding of %s: %v, want %v", text, got, want)
		}
	}
	if got, ok := Of("paper").Rounding("pareto-low", "be", "efficiency_0.5"); !ok || got != 0.005 { // 0.80
		t.Errorf("rounding of 0.80 as the reference has it: %v, want 0.005", got)
	}
}
