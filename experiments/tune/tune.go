// Package tune finds the best of several arms, such as settings of a market, that are known
// by replications alone. It spends them where they decide, and says what it cannot tell.
//
// It asks a [Sampler] for values and does not know what they measure, what an arm is, or how
// a replication is run. Replication r is the same chance for every arm (common random
// numbers), so that arms are compared by the differences within replications.
//
// # The race
//
// [Race] is successive elimination. All arms that are left are run in the same replications;
// after each round every one is compared with the leader, the one of best mean, and dropped
// as soon as the confidence sequence of their difference ([stats.Anytime], at level
// [Alpha]/(K-1) of K arms) lies wholly on one side of 0. The best arm is lost only if one of
// the K-1 sequences of its differences misses, whoever leads and whenever one looks: so it is
// among those kept with probability 1-[Alpha] or more, under the conditions of Anytime. The
// same event bounds the regret of choosing another one.
//
// If values are known to rise to one peak along the arms and to fall after it
// ([Ask.Smooth]), a golden section comes first: two arms inside the stretch that is left are
// run until the sequence of their difference tells them apart, and what lies beyond the worse
// one is dropped. It has half of the budget and half of [Alpha]; the race has the rest. Methods
// of gonum/optimize compare values that are exact, so none is used.
//
// # The price of ignorance
//
// Who takes the arm of best mean loses what the true best is better by. [Regret] has its mean
// by the Bayesian bootstrap (Rubin 1981): replications are given weights at random, the same
// for all arms that are kept, and what the best mean is then above that of the arm taken is
// averaged over draws. It has, too, the bound that the sequences give, which holds with
// probability 1-[Alpha].
package tune

import (
	"context"
	"fmt"
	"math"
)

// Alpha is the probability, at most, with which the best arm is not among those kept.
const Alpha = 0.05

// An Ask is what is to be found.
type Ask struct {
	Arms   int     // at least 1
	Least  bool    // the smallest value is the best, else the largest
	Lo, Hi float64 // what values lie between; infinite where they have no end
	Budget int     // replications of all arms together, at most
	Within float64 // regret that does not matter: the race ends when it is bounded by that
	Smooth bool    // values rise to one peak along the arms, and fall after it
	Seed   uint64  // of the draws that estimate regret
}

// A Sampler returns the values of arms, a row for each, in the replications from to before to;
// NaN is one that is undefined. An error ends the race.
type Sampler func(ctx context.Context, arms []int, from, to int) ([][]float64, error)

// A Stop says why a race has ended.
type Stop string

// Stops.
const (
	Told        Stop = "told"        // one arm is left
	Near        Stop = "near"        // regret is bounded by what does not matter
	Spent       Stop = "spent"       // the budget does not pay for another round
	Interrupted Stop = "interrupted" // the context ended
)

// A Found is what is known when a race has ended.
type Found struct {
	Stop   Stop
	Best   int         // of those kept, the arm of best mean
	Kept   []int       // arms that cannot be told from the best, which is among them, by their means
	Arms   []Arm       // all
	Values [][]float64 // by arm and replication
	Regret Regret

	Spent int // replications, of all arms
	Even  int // that an even split takes to know as much: as many for each arm as the one with most
}

// An Arm is what is known of one.
type Arm struct {
	N       int // replications
	Dropped int // replications after which it was dropped; 0 if it is kept
	By      int // the arm that it was worse than, or that bounded it

	// Of the differences from the best arm, how much better this one is, in the replications
	// of both in which both are defined:
	Pairs        int
	Mean, Lo, Hi float64 // mean and the ends of its sequence; infinite where there is none yet
	Needed       int     // replications of each that would tell them apart if all went on as it did; 0 if that cannot be told
}

// A Regret is what choosing the best arm of a race may cost.
type Regret struct {
	Expected float64 // at least 0
	Most     float64 // with probability 1-Alpha; +Inf while it has no bound
	Draws    int     // of the bootstrap
}

// A NoValueError is an arm that was undefined in every replication.
type NoValueError struct{ Arm, N int }

// Error says which.
func (e *NoValueError) Error() string {
	return fmt.Sprintf("arm %d has no value in any of %d replications", e.Arm, e.N)
}

// Race finds the best of the arms of ask. If ctx ends it returns what is known by then, and
// the error of ctx if that is nothing. Progress, unless nil, is told how many replications
// have been run and how many arms are left.
func Race(ctx context.Context, ask Ask, sample Sampler, progress func(spent, kept int)) (*Found, error) {
	if ask.Arms < 1 {
		panic("tune: a race without arms")
	}
	if progress == nil {
		progress = func(int, int) {}
	}
	r := &race{Ask: ask, sample: sample, progress: progress, values: make([][]float64, ask.Arms), dropped: make([]Arm, ask.Arms)}
	for arm := range ask.Arms {
		r.kept = append(r.kept, arm)
	}
	alpha := Alpha
	if ask.Smooth {
		alpha /= 2
	}
	r.level = alpha / float64(max(1, ask.Arms-1))
	stop, err := Spent, error(nil)
	if ask.Smooth {
		err = r.golden(ctx, Alpha/2)
	}
	if err == nil {
		stop, err = r.run(ctx)
	}
	if err != nil {
		if ctx.Err() == nil || r.common() == 0 {
			return nil, err
		}
		stop = Interrupted
	}
	return r.found(stop), nil
}

// better returns x so that more is better.
func (a *Ask) better(x float64) float64 {
	if a.Least {
		return -x
	}
	return x
}

// spread returns between what differences lie.
func (a *Ask) spread() float64 {
	if math.IsInf(a.Lo, 0) || math.IsInf(a.Hi, 0) {
		return math.Inf(1)
	}
	return a.Hi - a.Lo
}
