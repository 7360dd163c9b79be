package study

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
	"strings"

	"bourse/experiments/misuse"
	"bourse/experiments/report"
	"bourse/experiments/stats"
)

// alpha is the maximum probability that the best setting is eliminated.
const alpha = 0.05

// first is the number of replications of each setting before the first comparison.
const first = 5

// A sampler returns the values of settings in the replications from, from+1, …, to-1, with
// one row per setting. NaN means undefined. Replication r has the same jobs and hosts under
// every setting (common random numbers).
type sampler func(ctx context.Context, arms []int, from, to int) ([][]float64, error)

// A race searches for the best setting by successive elimination. An arm is the index of a
// setting.
//
// All remaining settings are run in the same replications. After each round, the race compares
// each setting with the leader, the setting with the best mean. A setting is dropped as soon
// as the confidence sequence of its difference from the leader lies completely on one side of
// 0 ([stats.Anytime], at level alpha/(K-1) for K settings). The best setting can be dropped
// only if one of the K-1 confidence sequences of its differences is wrong at some time. This
// is true for any leader and for any times of comparison. The best setting is therefore among
// the remaining ones with probability at least 1-alpha, under the conditions of Anytime. The
// same event bounds the regret of choosing another setting.
type race struct {
	*Tuned
	seed     uint64 // random stream for the estimate of the regret
	sample   sampler
	progress func(spent int)

	known  [][]report.Maybe // replications from an earlier search, by arm
	values [][]float64      // by arm and replication
	level  float64          // level of a comparison
}

// run finds the best setting of r. If ctx is done, run reports the results so far. If there
// are no results, it returns the error of ctx.
func (r *race) run(ctx context.Context) (err error) {
	n := len(r.Settings)
	r.values = make([][]float64, n)
	for arm := range n {
		r.Kept = append(r.Kept, arm)
	}
	r.level = alpha / float64(max(1, n-1))
	if r.Smooth {
		r.level = alpha / 2 / float64(max(1, n-1))
		err = r.golden(ctx, alpha/2)
	}
	if err == nil {
		err = r.eliminate(ctx)
	}
	if err != nil {
		if ctx.Err() == nil || r.common() == 0 {
			return err
		}
		r.Stop = Interrupted
	}
	r.report()
	return nil
}

// better returns x, with its sign changed if lower values are better.
func (r *race) better(x float64) float64 {
	if r.Least {
		return -x
	}
	return x
}

// after returns the number of replications at the comparison that follows the comparison with
// n replications. The number grows by 10 %, so a race computes less than 10 % more than
// necessary.
func after(n int) int { return max(first, n+max(1, n/10)) }

// eliminate compares the remaining settings until the race ends.
func (r *race) eliminate(ctx context.Context) error {
	for {
		r.look()
		switch {
		case len(r.Kept) == 1 && r.common() > 0:
			r.Stop = Decided
			return nil
		case r.Within > 0 && r.common() > 0 && r.most(r.leader()) <= r.Within:
			r.Stop = Near
			return nil
		}
		n := r.affordable(r.Kept, after(r.common()), r.Budget)
		if n <= r.common() {
			r.Stop = Spent
			return nil
		}
		if err := r.grow(ctx, r.Kept, n); err != nil {
			return err
		}
	}
}

// common returns the number of replications that all remaining settings have in common.
func (r *race) common() int {
	n := math.MaxInt
	for _, arm := range r.Kept {
		n = min(n, len(r.values[arm]))
	}
	return n
}

// affordable returns the number of replications, at most n, that each arm can have if the
// total cost of arms is at most budget.
func (r *race) affordable(arms []int, n, budget int) int {
	for ; n > 0; n-- {
		more := 0
		for _, arm := range arms {
			more += max(0, n-len(r.values[arm]))
		}
		if r.Spent+more <= budget {
			break
		}
	}
	return n
}

// grow uses the known replications of arms and runs more until each arm has n replications.
func (r *race) grow(ctx context.Context, arms []int, n int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, arm := range arms {
		have, known := len(r.values[arm]), r.known[arm]
		for _, x := range known[min(have, len(known)):max(min(have, len(known)), min(n, len(known)))] {
			r.values[arm] = append(r.values[arm], float64(x))
		}
		r.Spent += len(r.values[arm]) - have
	}
	for {
		from := n
		var same []int // arms with the same number of replications are run together
		for _, arm := range arms {
			if have := len(r.values[arm]); have < n && (same == nil || have == from) {
				from, same = have, append(same, arm)
			}
		}
		if same == nil {
			break
		}
		all, err := r.sample(ctx, same, from, n)
		if err != nil {
			return err
		}
		for i, arm := range same {
			r.values[arm] = append(r.values[arm], all[i]...)
		}
		r.Spent += (n - from) * len(same)
	}
	for _, arm := range arms {
		if s := &r.Settings[arm]; len(defined(r.values[arm])) == 0 {
			return misuse.Errorf("metric: %s is undefined under %s in each of %d replications", r.Metric, strings.Join(append([]string{s.Policy}, s.At...), " "), n)
		}
	}
	r.progress(r.Spent)
	return nil
}

// leader returns the remaining setting with the best mean over the common replications. If
// there are several, it returns the first.
func (r *race) leader() int {
	best, most, n := r.Kept[0], math.Inf(-1), r.common()
	for _, arm := range r.Kept {
		if mean := r.mean(arm, n); mean > most {
			best, most = arm, mean
		}
	}
	return best
}

// mean returns the mean of an arm over its first n replications, with its sign changed if
// lower values are better. It is -Inf if no value is defined.
func (r *race) mean(arm, n int) float64 {
	sum, xs := 0.0, defined(r.values[arm][:n])
	if len(xs) == 0 {
		return math.Inf(-1)
	}
	for _, x := range xs {
		sum += x
	}
	return r.better(sum / float64(len(xs)))
}

// differences returns the advantages of one arm over another in the replications in which
// both are defined.
func (r *race) differences(one, other int) (all []float64) {
	xs, ys := r.values[one], r.values[other]
	for i := range min(len(xs), len(ys)) {
		if d := xs[i] - ys[i]; !math.IsNaN(d) {
			all = append(all, r.better(d))
		}
	}
	return all
}

// spread returns the largest possible difference of two values.
func (r *race) spread() float64 { return r.hi - r.lo }

// between returns the confidence sequence of differences. Larger differences are better.
func (r *race) between(diffs []float64) (lo, hi float64, ok bool) {
	return stats.Anytime(diffs, -r.spread(), r.spread(), r.level)
}

// above reports whether the confidence sequence of differences lies above 0.
func (r *race) above(diffs []float64, level float64) bool {
	return stats.Above(diffs, 0, -r.spread(), r.spread(), level)
}

// drop drops an arm because the arm by is better.
func (r *race) drop(arm, by int) bool {
	r.Settings[arm].Dropped, r.Settings[arm].By = max(1, len(r.values[arm])), by
	return true
}

// look drops the arms that are significantly worse than the leader.
func (r *race) look() {
	if r.common() < first {
		return
	}
	leader := r.leader()
	r.Kept = slices.DeleteFunc(r.Kept, func(arm int) bool {
		return arm != leader && r.above(r.differences(leader, arm), r.level) && r.drop(arm, leader)
	})
}

// most returns an upper bound on the advantage of any other remaining setting over the arm
// best.
func (r *race) most(best int) float64 {
	bound := 0.0
	for _, arm := range r.Kept {
		if arm == best {
			continue
		}
		_, hi, ok := r.between(r.differences(arm, best))
		if !ok {
			return math.Inf(1)
		}
		bound = max(bound, hi)
	}
	return bound
}

// report completes the report of a finished race.
func (r *race) report() {
	r.Best = r.leader()
	r.Regret = regret{Expected: r.expected(r.Best), Most: report.Maybe(r.most(r.Best)), Draws: draws}
	n, best := r.common(), r.values[r.Best]
	slices.SortStableFunc(r.Kept, func(a, b int) int { return cmp.Compare(r.mean(b, n), r.mean(a, n)) })
	none := report.Maybe(math.NaN())
	for arm := range r.Settings {
		s, values := &r.Settings[arm], r.values[arm]
		s.N, s.Kept = len(values), slices.Contains(r.Kept, arm)
		r.Even = max(r.Even, s.N*len(r.Settings))
		s.Mean, s.Lo, s.Hi, s.Difference, s.LessLo, s.LessHi = none, none, none, none, none, none
		if xs := defined(values); len(xs) > 0 {
			s.Mean = report.Maybe(stats.Mean(xs))
			if lo, hi, ok := stats.Anytime(xs, r.lo, r.hi, alpha); ok {
				s.Lo, s.Hi = report.Maybe(lo), report.Maybe(hi)
			}
		}
		diffs := r.differences(arm, r.Best)
		if arm == r.Best || len(diffs) == 0 {
			continue
		}
		mean, same := stats.Mean(diffs), min(len(values), len(best))
		s.Difference, s.Same = report.Maybe(r.better(mean)+0), slices.Equal(values[:same], best[:same]) // +0: no negative zero
		if lo, hi, ok := r.between(diffs); ok {
			lo, hi = r.better(lo), r.better(hi)
			s.LessLo, s.LessHi = report.Maybe(min(lo, hi)), report.Maybe(max(lo, hi))
		}
		if s.Dropped == 0 {
			s.Needed = r.needed(diffs, mean)
		}
	}
	for _, arm := range r.Kept {
		if s := &r.Settings[arm]; arm != r.Best {
			if r.Tells = max(r.Tells, s.Needed); s.Needed == 0 {
				r.Tells = 0
				break
			}
		}
	}
	r.Method = r.method()
}

// repeated is the maximum number of times that needed repeats a sample.
const repeated = 16

// needed estimates the number of differences required to show that their mean is not 0. It
// repeats the observed differences. If this is not sufficient, it assumes that the width of
// the interval decreases with the square root of the number of differences. The result 0 means
// unknown.
func (r *race) needed(diffs []float64, mean float64) int {
	if mean == 0 {
		return 0
	}
	like := make([]float64, repeated*len(diffs))
	for i := range like {
		like[i] = math.Copysign(1, mean) * diffs[i%len(diffs)]
	}
	if r.above(like, r.level) {
		return sort.Search(len(like), func(n int) bool { return r.above(like[:n], r.level) })
	}
	lo, _, ok := r.between(like)
	if !ok {
		return 0
	}
	times := (math.Abs(mean) - lo) / math.Abs(mean)
	if n := math.Ceil(times * times * float64(len(like))); n < 1e12 {
		return int(n)
	}
	return 0
}
