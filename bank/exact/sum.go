package exact

import "math/big"

// A Sum is an exact sum of products. The zero value is 0. Its value is m × 10^e.
type Sum struct {
	m big.Int
	e int // power of ten
}

// Add adds the product of xs, which must be finite and at least 0.
func (s *Sum) Add(xs ...float64) {
	p := product(xs)
	m := p.m.big()
	// Convert both numbers to the smaller power of ten, so that their integers can be added.
	switch more := p.e - s.e; {
	case more > 0:
		m.Mul(m, ten(more))
	case more < 0:
		s.m.Mul(&s.m, ten(-more))
		s.e = p.e
	}
	s.m.Add(&s.m, m)
}

// Trunc is the function [Trunc] with s as the denominator: it returns the product of num
// divided by s, in units of 10^-places, rounded toward zero. The sum s must be above 0.
func (s *Sum) Trunc(places int, num ...float64) (n int64, ok bool) {
	over := product(num)
	m, d := over.m.big(), new(big.Int).Set(&s.m)
	if e := over.e - s.e + places; e < 0 {
		d.Mul(d, ten(-e))
	} else {
		m.Mul(m, ten(e))
	}
	m.Quo(m, d)
	return m.Int64(), m.IsInt64()
}
