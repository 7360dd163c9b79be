package dist

import "math/rand/v2"

// Open returns a uniform draw in the open interval (0,1), the domain of every quantile
// function: one of the 2^52 midpoints of equal cells.
func Open(src rand.Source) float64 {
	return (float64(src.Uint64()>>12) + 0.5) * 0x1p-52
}

// Rand returns a draw of d by inverse transform of one uniform.
func Rand(d Distribution, src rand.Source) float64 { return d.Quantile(Open(src)) }
