package market

import "math"

// A twofloat is the unevaluated sum of two floats, where |lo| is at most half a unit in the
// last place of hi. It holds about 32 decimal digits. This precision is needed because a
// windowed moment is a small difference of large integrals. A variance is in turn a small
// difference of moments.
//
// The algorithms for the operations are by Dekker and Knuth, with fused multiply-add.
type twofloat struct{ hi, lo float64 }

// difference returns a - b exactly.
func difference(a, b float64) twofloat {
	hi := a - b
	bb := a - hi
	return twofloat{hi, (a - (hi + bb)) + (bb - b)}
}

// plus returns x + y.
func (x twofloat) plus(y twofloat) twofloat {
	hi := x.hi + y.hi
	yy := hi - x.hi
	lo := (x.hi - (hi - yy)) + (y.hi - yy)
	return normal(hi, lo+(x.lo+y.lo))
}

// minus returns x - y.
func (x twofloat) minus(y twofloat) twofloat { return x.plus(twofloat{-y.hi, -y.lo}) }

// scale returns x·f.
func (x twofloat) scale(f float64) twofloat {
	hi := x.hi * f
	return normal(hi, math.FMA(x.lo, f, math.FMA(x.hi, f, -hi)))
}

// times returns x·y.
func (x twofloat) times(y twofloat) twofloat {
	hi := x.hi * y.hi
	lo := math.FMA(x.hi, y.hi, -hi)
	return normal(hi, math.FMA(x.hi, y.lo, math.FMA(x.lo, y.hi, lo)))
}

// normal returns hi + lo in normalized form. |lo| must be at most |hi|.
func normal(hi, lo float64) twofloat {
	s := hi + lo
	return twofloat{s, lo - (s - hi)}
}
