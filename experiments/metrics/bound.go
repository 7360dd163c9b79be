package metrics

import "math"

// A Bound is the range of a metric. It also limits the interval of the metric's mean.
type Bound int

// The bounds. The zero value means that there is no bound.
const (
	Unbounded   Bound = iota
	Proportion        // [0,1]
	Percent           // [0,100]
	Correlation       // [-1,1]
)

// Ends returns the smallest and the largest value. They are infinite if there is no bound.
func (b Bound) Ends() (lo, hi float64) {
	switch b {
	case Proportion:
		return 0, 1
	case Percent:
		return 0, 100
	case Correlation:
		return -1, 1
	}
	return math.Inf(-1), math.Inf(1)
}
