package tune

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"bourse/experiments/stats"
)

// found returns what is known.
func (r *race) found(stop Stop) *Found {
	best, n := r.leader(), r.common()
	f := &Found{Stop: stop, Best: best, Kept: slices.Clone(r.kept), Arms: slices.Clone(r.dropped), Values: r.values, Spent: r.spent}
	slices.SortStableFunc(f.Kept, func(a, b int) int { return cmp.Compare(r.mean(b, n), r.mean(a, n)) })
	for arm := range f.Arms {
		a := &f.Arms[arm]
		a.N = len(r.values[arm])
		f.Even = max(f.Even, a.N*r.Arms)
		if arm != best {
			r.compare(a, arm, best)
		}
	}
	f.Regret = Regret{Expected: r.expected(best), Most: r.most(best), Draws: draws}
	return f
}

// compare fills in how arm stands to the best.
func (r *race) compare(a *Arm, arm, best int) {
	a.Lo, a.Hi = math.Inf(-1), math.Inf(1)
	diffs := r.differences(arm, best)
	if a.Pairs = len(diffs); a.Pairs == 0 {
		return
	}
	a.Mean = stats.Summarize(diffs, stats.Quantity{}).Mean
	if lo, hi, ok := r.between(arm, best, r.level); ok {
		a.Lo, a.Hi = lo, hi
	}
	if a.Dropped == 0 {
		a.Needed = r.needed(diffs, a.Mean)
	}
}

// repeated is how many times a sample is repeated at most to see what more like it would tell.
const repeated = 16

// needed returns how many differences would tell that their mean is not 0 if they went on as
// those that there are: these over and over again, or, where that is too many, by the root of
// their number, with which the sequence narrows. 0 is none.
func (r *race) needed(diffs []float64, mean float64) int {
	if mean == 0 {
		return 0
	}
	sign := math.Copysign(1, mean)
	like := make([]float64, repeated*len(diffs))
	for i := range like {
		like[i] = sign * diffs[i%len(diffs)]
	}
	s := r.spread()
	if stats.Above(like, 0, -s, s, r.level) {
		return sort.Search(len(like), func(n int) bool { return stats.Above(like[:n], 0, -s, s, r.level) })
	}
	lo, _, ok := stats.Anytime(like, -s, s, r.level)
	if !ok {
		return 0
	}
	times := (sign*mean - lo) / (sign * mean)
	if n := math.Ceil(times * times * float64(len(like))); n < 1e12 {
		return int(n)
	}
	return 0
}
