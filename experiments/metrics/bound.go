package metrics

import "math"

// A Bound says between what values a metric lies, and so does the interval of its mean.
type Bound int

// The bounds. The zero value is none.
const (
	Unbounded   Bound = iota
	Proportion        // [0,1]
	Percent           // [0,100]
	Correlation       // [-1,1]
)

// Ends returns the least and the greatest value, infinite where there is none.
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
