package sim

import "math"

// A twoFloat is the sum of two floats, the second at most half a unit in the last
// place of the first: a number of 106 bits. Long sums of it do not drift.
type twoFloat struct{ hi, lo float64 }

// add returns a + x.
func (a twoFloat) add(x float64) twoFloat {
	sum, rest := addTo(a.hi, x)
	return normal(sum, rest+a.lo)
}

// plus returns a + b.
func (a twoFloat) plus(b twoFloat) twoFloat {
	sum, rest := addTo(a.hi, b.hi)
	return normal(sum, rest+(a.lo+b.lo))
}

// minus returns a - b as a float: exact to a few units in the last place, however
// close the two are.
func (a twoFloat) minus(b twoFloat) float64 { return (a.hi - b.hi) + (a.lo - b.lo) }

// less reports whether a < b.
func (a twoFloat) less(b twoFloat) bool {
	return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo
}

// after returns a + x/y, +Inf if x/y is more than a float holds.
func (a twoFloat) after(x, y float64) twoFloat {
	q := quotient(x, y)
	if math.IsInf(q.hi, 1) {
		return twoFloat{q.hi, 0}
	}
	return a.plus(q)
}

// quotient returns a / b.
func quotient(a, b float64) twoFloat {
	q := a / b
	return twoFloat{q, math.FMA(-q, b, a) / b}
}

// normal returns a + b, of which a is the larger by far.
func normal(a, b float64) twoFloat {
	sum := a + b
	return twoFloat{sum, b - (sum - a)}
}

// addTo returns a + b as a float and what rounding took from it.
func addTo(a, b float64) (sum, rest float64) {
	sum = a + b
	part := sum - a
	return sum, (a - (sum - part)) + (b - part)
}
