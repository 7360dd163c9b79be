package study

import (
	"context"
	"math"
	"slices"
)

// golden is the fraction of a range that a golden-section search removes at either end.
var golden = (3 - math.Sqrt(5)) / 2

// golden drops settings. The method golden assumes that values rise to a single peak along the
// settings and then fall. It runs two settings inside the remaining range until their
// difference is significant. It then drops the worse setting and all settings beyond it. It
// stops when few settings remain. It also stops when the difference between two settings is
// not significant after their share of half the budget. The probability that any of its
// comparisons is wrong is at most alpha. Package gonum/optimize compares exact values, so this
// function does not use its methods.
func (r *race) golden(ctx context.Context, alpha float64) error {
	lo, hi := 0, len(r.Settings)-1
	// Each comparison leaves less than 70 % of the settings if there are more than four.
	comparisons := 1 + int(math.Ceil(math.Log(float64(hi+1))/-math.Log(0.7)))
	level, share := alpha/float64(comparisons), r.Budget/2/comparisons
	for range comparisons {
		if hi-lo < 4 {
			break
		}
		one, other := r.inner(lo, hi)
		worse, told, err := r.duel(ctx, one, other, level, r.Spent+share)
		if err != nil || !told {
			return err
		}
		if worse == one {
			r.beyond(lo, one, other)
			lo = one + 1
		} else {
			r.beyond(other, hi, one)
			hi = other - 1
		}
	}
	return nil
}

// inner returns two arms that divide the range from lo to hi approximately by the golden
// section. The range must have at least five arms. It prefers an arm that has already been
// run, if that arm is less than 10 % of the range away.
func (r *race) inner(lo, hi int) (one, other int) {
	length := float64(hi - lo)
	step := max(1, int(math.Round(golden*length)))
	near := func(at, from, to int) int {
		best := at
		for arm := from; arm <= to; arm++ {
			if math.Abs(float64(arm-at)) < length/10 && len(r.values[arm]) > len(r.values[best]) {
				best = arm
			}
		}
		return best
	}
	middle := lo + (hi-lo)/2
	return near(lo+step, lo+1, middle-1), near(hi-step, middle+1, hi-1)
}

// duel runs two arms and returns the worse one when their difference is significant. It stops
// when it has spent its budget of replications.
func (r *race) duel(ctx context.Context, one, other int, level float64, budget int) (worse int, told bool, err error) {
	pair := []int{one, other}
	for n := max(first, min(len(r.values[one]), len(r.values[other]))); ; n = after(n) {
		affordable := r.affordable(pair, n, budget)
		if affordable <= 0 {
			return 0, false, nil
		}
		if err := r.grow(ctx, pair, affordable); err != nil {
			return 0, false, err
		}
		switch {
		case r.above(r.differences(one, other), level):
			return other, true, nil
		case r.above(r.differences(other, one), level):
			return one, true, nil
		case r.affordable(pair, after(affordable), budget) <= affordable:
			return 0, false, nil
		}
	}
}

// beyond drops the arms from lo to hi because the arm by is better.
func (r *race) beyond(lo, hi, by int) {
	r.Kept = slices.DeleteFunc(r.Kept, func(arm int) bool { return arm >= lo && arm <= hi && r.drop(arm, by) })
}
