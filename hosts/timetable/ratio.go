package timetable

import (
	"fmt"
	"math/bits"
)

// A Ratio is an exact rational number, so that equal values compare as equal.
type Ratio struct {
	Num int64
	Den int64 // more than 0
}

// Cmp returns -1, 0 or +1 if r is less than, equal to or greater than o.
func (r Ratio) Cmp(o Ratio) int {
	if (r.Num < 0) != (o.Num < 0) {
		if r.Num < 0 {
			return -1
		}
		return 1
	}
	if r.Num < 0 {
		r.Num, o.Num = -o.Num, -r.Num
		r.Den, o.Den = o.Den, r.Den
	}
	// Both are at least 0: compare r.Num*o.Den with o.Num*r.Den in 128 bits.
	ah, al := bits.Mul64(uint64(r.Num), uint64(o.Den))
	bh, bl := bits.Mul64(uint64(o.Num), uint64(r.Den))
	switch {
	case ah < bh || ah == bh && al < bl:
		return -1
	case ah > bh || al > bl:
		return 1
	}
	return 0
}

// String returns the ratio in lowest terms, such as "3/10" or "0/1".
func (r Ratio) String() string {
	a, b := r.Num, r.Den
	for b != 0 {
		a, b = b, a%b
	}
	a = max(a, -a)
	return fmt.Sprintf("%d/%d", r.Num/a, r.Den/a)
}
