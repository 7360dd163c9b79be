package whatif

import (
	"math"
	"slices"

	"bourse/experiments/stats"
)

// A trial is the result of one replication under one policy.
type trial struct {
	Truth  payoff
	Gains  []gain
	Answer *response // nil if users do not respond to one another

	Best   float64 // U* or a bound on it; 0 if there is none
	Proven bool    // whether Best is U*
}

// A deviationSample contains all trials of one configuration under one policy, in the order of
// replications.
type deviationSample struct {
	Configuration, Policy string
	Trials                []trial
}

// by returns the gains of users by deviation d. If d is negative, it returns each user's
// gain by the best deviation.
func (f *deviationSample) by(d int) (s sample) {
	for i := range f.Trials {
		var gains []float64
		for _, g := range f.Trials[i].Gains {
			if d < 0 {
				gains = append(gains, max(0, slices.Max(g.By)))
			} else {
				gains = append(gains, g.By[d])
			}
		}
		s = append(s, gains)
	}
	return s
}

// An equilibrium describes the final state after users have responded to one another.
type equilibrium struct {
	Configuration string  `json:"configuration"`
	Policy        string  `json:"policy"`
	N             int     `json:"n" doc:"number of replications in which users responded to one another"`
	Settled       int     `json:"settled" doc:"number of replications that settled, so that no user gains more than epsilon from another deviation"`
	Circles       int     `json:"circles" doc:"number of replications in which users cycle, because they return to earlier reports"`
	Rounds        float64 `json:"rounds" doc:"mean number of rounds, including, in replications that settled, the last round, in which nothing changed"`
	Bounds        int     `json:"bounds" doc:"number of replications in which a bound replaces U*"`

	Anarchy *ratio        `json:"anarchy" doc:"price of anarchy, which is U* divided by the value of all work at the end of the responses; null without U*"`
	Truth   *ratio        `json:"truth" doc:"price of anarchy if all users are truthful"`
	Lost    *meanEstimate `json:"lost" doc:"value of all work with truthful reports minus the value of all work at the end of the responses, as a fraction of U*"`
	Needed  *int          `json:"needed" doc:"number of replications needed to detect the observed loss with a power of 80 %, if the verdict is undecided"`
	Verdict string        `json:"verdict" doc:"verdict by the interval of the loss: misreports cost, misreports help, undecided, nothing changes or no U*"`

	Plays []play `json:"plays" doc:"final reports of users, the most frequent first"`
}

// A ratio is a ratio of two means over replications, with Fieller's interval.
type ratio struct {
	Value float64  `json:"value"`
	Lo    *float64 `json:"lo" doc:"lower end of the interval of the ratio; null if unbounded"`
	Hi    *float64 `json:"hi"`
}

// A play is a report with the fraction of users who make this report.
type play struct {
	Deviation string  `json:"deviation"`
	Share     float64 `json:"share"`
}

// These constants are the verdicts on the total effect of misreports.
const (
	costs     = "misreports cost"
	helps     = "misreports help"
	unbounded = "no U*"
)

// equilibrium returns the final state of the users in f, or nil if they did not respond to one
// another. The intervals of the result belong to a family of the given size.
func (f *deviationSample) equilibrium(family int) *equilibrium {
	alpha := familyLevel / float64(max(1, family))
	e := &equilibrium{Configuration: f.Configuration, Policy: f.Policy, Plays: []play{}}
	var best, worth, truth, lost []float64
	said := map[string]int{}
	var order []string
	users, none := 0, false
	for i := range f.Trials {
		t := &f.Trials[i]
		if t.Answer == nil {
			continue
		}
		e.N++
		e.Rounds += float64(t.Answer.Rounds)
		if t.Answer.Settled {
			e.Settled++
		}
		if t.Answer.Circles {
			e.Circles++
		}
		if !t.Proven {
			e.Bounds++
		}
		for _, d := range t.Answer.Plays {
			users++
			if said[d.String()]++; said[d.String()] == 1 {
				order = append(order, d.String())
			}
		}
		none = none || t.Best == 0
		best, worth, truth = append(best, t.Best), append(worth, t.Answer.Outcome.Worth), append(truth, t.Truth.Worth)
		lost = append(lost, (t.Truth.Worth-t.Answer.Outcome.Worth)/t.Best)
	}
	if e.N == 0 {
		return nil
	}
	e.Rounds /= float64(e.N)
	slices.SortStableFunc(order, func(a, b string) int { return said[b] - said[a] })
	for _, d := range order {
		e.Plays = append(e.Plays, play{d, float64(said[d]) / float64(users)})
	}
	if none {
		e.Verdict = unbounded
		return e
	}
	e.Anarchy, e.Truth = ratioOf(best, worth, alpha), ratioOf(best, truth, alpha)
	m := student(lost, alpha)
	e.Lost = &m
	switch {
	case !slices.ContainsFunc(lost, func(x float64) bool { return x != 0 }):
		e.Verdict = same
	case m.Lo != nil && *m.Lo > 0:
		e.Verdict = costs
	case m.Hi != nil && *m.Hi < 0:
		e.Verdict = helps
	default:
		e.Verdict = undecided
		if d, ok := stats.Pairs(lost, make([]float64, e.N)); ok {
			if n, ok := stats.SampleFor(d.Effect, 0.8, true, alpha); ok {
				e.Needed = &n
			}
		}
	}
	return e
}

// ratioOf returns the ratio of the means of xs and ys, or nil if the ratio is undefined.
func ratioOf(xs, ys []float64, alpha float64) *ratio {
	e, ok := stats.Fieller(xs, ys)
	if !ok {
		return nil
	}
	r := &ratio{Value: e.Value}
	if lo, hi, ok := e.Interval(alpha); ok && !math.IsInf(lo, 0) && !math.IsInf(hi, 0) {
		r.Lo, r.Hi = &lo, &hi
	}
	return r
}
