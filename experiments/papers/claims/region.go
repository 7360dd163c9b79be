package claims

import (
	"fmt"
	"math"
	"strings"
)

// A relation states where a number must lie.
type relation string

// The relations of a number x to its reference r, with a margin m. A direction is compared
// with r itself. If x is less than m from r, a larger sample could still determine the
// direction, but it would not matter.
const (
	higher     relation = "higher"      // x > r
	lower      relation = "lower"       // x < r
	muchHigher relation = "much higher" // x > r + m
	muchLower  relation = "much lower"  // x < r - m
	similar    relation = "similar"     // r - m < x < r + m, or for a range from its lowest to its highest
	notLower   relation = "not lower"   // x > r - m: as good as each rival
	notHigher  relation = "not higher"  // x < r + m
)

var relations = []relation{higher, lower, muchHigher, muchLower, similar, notLower, notHigher}

func words(all []relation) string {
	s := make([]string, len(all))
	for i, r := range all {
		s[i] = string(r)
	}
	return strings.Join(s, ", ")
}

// A region is an interval from lo to hi in which a number must lie.
type region struct{ lo, hi float64 }

// region returns the region of r, with the given part of its margin.
func (r Row) region(part float64) region {
	m := r.Margin * part
	lowest, highest := r.To[0], r.To[len(r.To)-1]
	inf := math.Inf(1)
	switch r.Is {
	case higher:
		return region{lowest, inf}
	case lower:
		return region{-inf, highest}
	case muchHigher:
		return region{lowest + m, inf}
	case muchLower:
		return region{-inf, highest - m}
	case notLower:
		return region{lowest - m, inf}
	case notHigher:
		return region{-inf, highest + m}
	default:
		return region{lowest - m, highest + m}
	}
}

// equal reports whether the interval of a direction excludes every difference that matters.
func (r Row) equal(lo, hi float64) bool {
	return (r.Is == higher || r.Is == lower) && lo > r.To[0]-r.Margin && hi < r.To[0]+r.Margin
}

func (r region) inside(lo, hi float64) bool  { return r.lo < lo && hi < r.hi }
func (r region) outside(lo, hi float64) bool { return hi < r.lo || lo > r.hi }

// room returns how far x is from the nearest end of r.
func (r region) room(x float64) float64 {
	return min(math.Abs(x-r.lo), math.Abs(x-r.hi))
}

// words describes where a number must lie.
func (r region) words() string {
	switch {
	case math.IsInf(r.hi, 1):
		return fmt.Sprintf("> %.4g", r.lo)
	case math.IsInf(r.lo, -1):
		return fmt.Sprintf("< %.4g", r.hi)
	}
	return fmt.Sprintf("in %.4g to %.4g", r.lo, r.hi)
}
