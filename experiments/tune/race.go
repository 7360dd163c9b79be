package tune

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"

	"bourse/experiments/stats"
)

// first is how many replications of each arm there are before anything is compared.
const first = 5

// A race is one under way.
type race struct {
	Ask
	sample   Sampler
	progress func(spent, kept int)

	values  [][]float64 // by arm and replication
	kept    []int       // in order of arms
	dropped []Arm       // by arm: when and by whom
	level   float64     // of a comparison
	spent   int
}

// after returns how many replications there are at the look after that of n: a tenth more
// each time wastes less than that.
func after(n int) int { return max(first, n+max(1, n/10)) }

// run races the arms that are kept.
func (r *race) run(ctx context.Context) (Stop, error) {
	for {
		r.look()
		switch {
		case len(r.kept) == 1 && r.common() > 0:
			return Told, nil
		case r.Within > 0 && r.common() > 0 && r.most(r.leader()) <= r.Within:
			return Near, nil
		}
		n := r.affordable(r.kept, after(r.common()), r.Budget)
		if n <= r.common() {
			return Spent, nil
		}
		if err := r.grow(ctx, r.kept, n); err != nil {
			return "", err
		}
	}
}

// common returns how many replications all arms that are kept have.
func (r *race) common() int {
	n := math.MaxInt
	for _, arm := range r.kept {
		n = min(n, len(r.values[arm]))
	}
	return n
}

// affordable returns how many replications each of arms can have, n at most, such that no
// more are spent in all than budget.
func (r *race) affordable(arms []int, n, budget int) int {
	for ; n > 0; n-- {
		more := 0
		for _, arm := range arms {
			more += max(0, n-len(r.values[arm]))
		}
		if r.spent+more <= budget {
			break
		}
	}
	return n
}

// grow runs arms until each has n replications.
func (r *race) grow(ctx context.Context, arms []int, n int) error {
	var short []int
	for _, arm := range arms {
		if len(r.values[arm]) < n {
			short = append(short, arm)
		}
	}
	for len(short) > 0 {
		from := len(r.values[short[0]]) // those that have as many go together
		var same, rest []int
		for _, arm := range short {
			if len(r.values[arm]) == from {
				same = append(same, arm)
			} else {
				rest = append(rest, arm)
			}
		}
		all, err := r.sample(ctx, same, from, n)
		if err != nil {
			return err
		}
		for i, arm := range same {
			r.values[arm] = append(r.values[arm], all[i]...)
			if !slices.ContainsFunc(r.values[arm], defined) {
				return &NoValueError{arm, n}
			}
			r.spent += n - from
		}
		short = rest
		r.progress(r.spent, len(r.kept))
	}
	return nil
}

func defined(x float64) bool { return !math.IsNaN(x) }

// leader returns the arm of best mean of those kept in the replications that all of them have;
// of equals the first.
func (r *race) leader() int {
	best, most, n := r.kept[0], math.Inf(-1), r.common()
	for _, arm := range r.kept {
		if mean := r.mean(arm, n); mean > most {
			best, most = arm, mean
		}
	}
	return best
}

// mean returns the mean of an arm in its first n replications, so that more is better; -Inf
// if none of them is defined.
func (r *race) mean(arm, n int) float64 {
	sum, count := 0.0, 0
	for _, x := range r.values[arm][:n] {
		if defined(x) {
			sum += x
			count++
		}
	}
	if count == 0 {
		return math.Inf(-1)
	}
	return r.better(sum / float64(count))
}

// differences returns by how much one arm is better than another, in the replications in
// which both are defined.
func (r *race) differences(one, other int) (all []float64) {
	xs, ys := r.values[one], r.values[other]
	for i := range min(len(xs), len(ys)) {
		if d := xs[i] - ys[i]; defined(d) {
			all = append(all, r.better(d))
		}
	}
	return all
}

// between returns the sequence of how much better one arm is than another.
func (r *race) between(one, other int, level float64) (lo, hi float64, ok bool) {
	s := r.spread()
	return stats.Anytime(r.differences(one, other), -s, s, level)
}

// above reports whether that sequence lies above 0.
func (r *race) above(one, other int, level float64) bool {
	s := r.spread()
	return stats.Above(r.differences(one, other), 0, -s, s, level)
}

// look drops what is worse than the leader.
func (r *race) look() {
	if r.common() < first {
		return
	}
	leader := r.leader()
	r.kept = slices.DeleteFunc(r.kept, func(arm int) bool {
		if arm == leader {
			return false
		}
		if r.above(leader, arm, r.level) {
			r.dropped[arm] = Arm{Dropped: len(r.values[arm]), By: leader}
			return true
		}
		return false
	})
}

// most bounds how much better than best another of those kept is.
func (r *race) most(best int) float64 {
	bound := 0.0
	for _, arm := range r.kept {
		if arm == best {
			continue
		}
		_, hi, ok := r.between(arm, best, r.level)
		if !ok {
			return math.Inf(1)
		}
		bound = max(bound, hi)
	}
	return bound
}

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
	a.Mean = stats.Summarize(diffs).Mean
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
