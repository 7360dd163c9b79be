package claims

import (
	"fmt"
	"math"
	"strings"
)

// A relation states in which region a number must lie.
type relation string

// The relations of a number x to its reference r, with a margin m. For a direction, x is
// compared with r itself. If the difference is smaller than m, a larger sample could still
// determine the direction, but the difference would not matter.
const (
	higher     relation = "higher"      // x > r
	lower      relation = "lower"       // x < r
	muchHigher relation = "much higher" // x > r + m
	muchLower  relation = "much lower"  // x < r - m
	similar    relation = "similar"     // r - m < x < r + m; for a range r, its lowest value is used in r - m and its highest in r + m
	notLower   relation = "not lower"   // x > r - m
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

// region returns the region of r, using the given fraction of r's margin.
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

// equal reports whether the interval from lo to hi for a direction excludes every difference
// that matters.
func (r Row) equal(lo, hi float64) bool {
	return (r.Is == higher || r.Is == lower) && lo > r.To[0]-r.Margin && hi < r.To[0]+r.Margin
}

func (r region) inside(lo, hi float64) bool  { return r.lo < lo && hi < r.hi }
func (r region) outside(lo, hi float64) bool { return hi < r.lo || lo > r.hi }

// room returns the distance of x from the nearest end of r.
func (r region) room(x float64) float64 {
	return min(math.Abs(x-r.lo), math.Abs(x-r.hi))
}

// words describes the region in which a number must lie.
func (r region) words() string {
	switch {
	case math.IsInf(r.hi, 1):
		return fmt.Sprintf("> %.4g", r.lo)
	case math.IsInf(r.lo, -1):
		return fmt.Sprintf("< %.4g", r.hi)
	}
	return fmt.Sprintf("in %.4g to %.4g", r.lo, r.hi)
}
