package tune

import (
	"context"
	"math"
	"slices"

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
