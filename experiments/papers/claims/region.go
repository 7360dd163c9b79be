package claims

import (
	"fmt"
	"math"
	"strings"
)

// A relation says where a number must lie.
type relation string

// The relations, of a number x to what it is held against, r, with a margin m.
const (
	higher     relation = "higher"      // x > r; that x < r + m contradicts it
	lower      relation = "lower"       // x < r; that x > r - m contradicts it
	muchHigher relation = "much higher" // x > r + m
	muchLower  relation = "much lower"  // x < r - m
	similar    relation = "similar"     // r - m < x < r + m, or of a range from its lowest to its highest
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

// A region is where a number must lie, from lo to hi, and what is outside of it: below
// under, and above over. Of a direction a difference that is smaller than matters is
// outside, too, unless it is shown to be one.
type region struct{ lo, hi, under, over float64 }

// region returns that of t, with that part of its margin.
func (t Test) region(part float64) region {
	m := *t.Margin * part
	var lowest, highest float64
	if len(t.To) > 0 {
		lowest, highest = t.To[0], t.To[len(t.To)-1]
	}
	inf := math.Inf(1)
	switch t.Is {
	case higher:
		return region{lowest, inf, lowest + m, inf}
	case lower:
		return region{-inf, highest, -inf, highest - m}
	case muchHigher:
		return region{lowest + m, inf, lowest + m, inf}
	case muchLower:
		return region{-inf, highest - m, -inf, highest - m}
	case notLower:
		return region{lowest - m, inf, lowest - m, inf}
	case notHigher:
		return region{-inf, highest + m, -inf, highest + m}
	default:
		return region{lowest - m, highest + m, lowest - m, highest + m}
	}
}

func (r region) inside(lo, hi float64) bool  { return r.lo < lo && hi < r.hi }
func (r region) outside(lo, hi float64) bool { return hi < r.under || lo > r.over }

// room returns how far x, if it is inside, is from where it would no longer be, and if it
// is not, how far outside.
func (r region) room(x float64) float64 {
	if r.inside(x, x) {
		return min(x-r.lo, r.hi-x)
	}
	return max(r.under-x, x-r.over)
}

// words says where a number must lie.
func (r region) words() string {
	digits := func(x float64) string { return fmt.Sprintf("%.4g", x) }
	switch {
	case math.IsInf(r.hi, 1) && r.under > r.lo:
		return fmt.Sprintf("> %s (%s matters)", digits(r.lo), digits(r.under-r.lo))
	case math.IsInf(r.hi, 1):
		return "> " + digits(r.lo)
	case math.IsInf(r.lo, -1) && r.over < r.hi:
		return fmt.Sprintf("< %s (%s matters)", digits(r.hi), digits(r.hi-r.over))
	case math.IsInf(r.lo, -1):
		return "< " + digits(r.hi)
	}
	return "in " + digits(r.lo) + " to " + digits(r.hi)
}
