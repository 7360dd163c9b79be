package packing_test

import (
	"fmt"
	"testing"

	"bourse/market/packing"
)

// This example sells two units from 0 to 10. The item that needs both is worth less than the
// two others together.
func ExampleSolver_Solve() {
	items := []packing.Item{{Value: 40, Units: 1, From: 0, To: 10}, {Value: 70, Units: 2, From: 5, To: 10}, {Value: 35, Units: 1, From: 2, To: 6}}
	s := new(packing.Solver).Solve(items, 2, packing.Limits{Whole: true})
	fmt.Println(s.Value, s.Chosen, s.Proven)
	// Output: 75 [true false true] true
}

// TestWhole checks that the solver distinguishes plans whose values differ by 1, even if the
// allowed rounding error is larger.
func TestWhole(t *testing.T) {
	t.Parallel()
	const large = 1 << 50
	items := []packing.Item{{Value: large, Units: 1, From: 0, To: 10}, {Value: large + 1, Units: 1, From: 5, To: 15}, {Value: large, Units: 1, From: 12, To: 20}}
	s := new(packing.Solver).Solve(items, 1, packing.Limits{Whole: true})
	if !s.Proven || s.Value != 2*large {
		t.Errorf("value %v, proven %v, want %v, true", s.Value, s.Proven, 2.0*large)
	}
	s = new(packing.Solver).Solve(items[:2], 1, packing.Limits{Whole: true})
	if !s.Proven || s.Value != large+1 {
		t.Errorf("value %v, proven %v, want %v, true", s.Value, s.Proven, float64(large+1))
	}
}
