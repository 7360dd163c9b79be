package admission

import "bourse/contracts/sharing"

// A course is what a task will need: from now on it gets rate processors.
type course struct{ left, span, rate, keep float64 }

// need returns what it needs after t seconds, at most steady.
func (x *course) need(t float64) float64 {
	if x.left <= sharing.Tick {
		return x.keep
	}
	return (x.left - x.rate*t) / (x.span - t)
}

// slope returns how fast need grows at first.
func (x *course) slope() float64 {
	if x.left <= sharing.Tick {
		return 0
	}
	return (x.left/x.span - x.rate) / x.span
}

// steady returns how long the formula stays the same.
func (x *course) steady() float64 {
	steady := x.span - sharing.Tick
	if x.left > sharing.Tick {
		steady = min(steady, (x.left-sharing.Tick)/x.rate)
	}
	return steady
}
