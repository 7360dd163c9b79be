package dist

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// integrate returns the integral of f over [a, b] with an error of about 1e-10 times the
// integral of |f|. It uses Gauss-Legendre panels, which it halves until both halves agree.
func integrate(f func(float64) float64, a, b float64) float64 {
	whole := quad.Fixed(f, a, b, 20, nil, 0)
	size := quad.Fixed(func(x float64) float64 { return math.Abs(f(x)) }, a, b, 20, nil, 0)
	return halve(f, a, b, whole, 1e-11*size, 40)
}

func halve(f func(float64) float64, a, b, whole, tol float64, depth int) float64 {
	m := a + (b-a)/2
	left := quad.Fixed(f, a, m, 20, nil, 0)
	right := quad.Fixed(f, m, b, 20, nil, 0)
	if d := math.Abs(left + right - whole); depth == 0 || d <= tol || d <= 1e-14*math.Abs(whole) {
		return left + right
	}
	return halve(f, a, m, left, tol/2, depth-1) + halve(f, m, b, right, tol/2, depth-1)
}
