package stats_test

import (
	"fmt"

	"bourse/experiments/stats"
)

// This example summarizes five repetitions by their mean and its 95 % Student interval.
func Example() {
	s := stats.Summarize([]float64{0.61, 0.58, 0.66, 0.63, 0.60}, stats.Quantity{})
	fmt.Printf("%.3f in [%.3f, %.3f], n = %d\n", s.Mean, s.Lo95, s.Hi95, s.N)
	// Output: 0.616 in [0.578, 0.654], n = 5
}
