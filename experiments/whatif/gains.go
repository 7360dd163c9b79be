package whatif

import (
	"math"

	"bourse/experiments/stats"
)

// level is that of all intervals of a family at once.
const familyLevel = 0.05

// A meanEstimate is a mean over replications, with its interval.
type meanEstimate struct {
	Value float64  `json:"value"`
	Lo    *float64 `json:"lo" doc:"null where replications do not vary, or there is one"`
	Hi    *float64 `json:"hi"`
}

// A gainRow is what one deviation gains users under one policy.
type gainRow struct {
	Configuration string       `json:"configuration"`
	Policy        string       `json:"policy"`
	Deviation     string       `json:"deviation" doc:"KIND=NUMBER; best: that which gains each user most, if any does"`
	N             int          `json:"n" doc:"replications: what intervals are over"`
	Users         int          `json:"users" doc:"sampled, over all replications"`
	Gain          meanEstimate `json:"gain" doc:"of a user in true utility, $"`
	Share         meanEstimate `json:"share" doc:"of users who gain more than epsilon"`
	Largest       meanEstimate `json:"largest" doc:"gain among the users of a replication, $"`
	Most          float64      `json:"most" doc:"largest gain of all, $"`
	Needed        *int         `json:"needed" doc:"replications that would show a mean gain like this with a power of 80 %"`
	Verdict       string       `json:"verdict" doc:"gains, loses, or cannot be told apart, by the interval of the mean; nothing changes; empty of the best"`
}

// The verdicts on a mean gain.
const (
	gains     = "gains"
	loses     = "loses"
	undecided = "cannot be told apart"
	same      = "nothing changes"
)

// A sample is what users gain by one deviation: of each replication, those of its users.
type sample [][]float64

// weighed returns what a sample says, whose intervals are of a family of so many: each misses
// with a probability of at most 5 % over all of them (Bonferroni). Replications are what is
// independent: the mean of a replication's users counts once (Student's t), and so do their
// share (of clustered trials) and the largest.
func weighed(s sample, epsilon float64, family int) (r gainRow) {
	alpha := familyLevel / float64(max(1, family))
	var means, shares, largest []float64
	r.Most = math.Inf(-1)
	still := true
	for _, gains := range s {
		if len(gains) == 0 {
			continue
		}
		n, most := 0.0, math.Inf(-1)
		for _, g := range gains {
			if g > epsilon {
				n++
			}
			still = still && g == 0
			most = max(most, g)
		}
		r.Users += len(gains)
		r.Most = max(r.Most, most)
		means, shares, largest = append(means, stats.Mean(gains)), append(shares, n/float64(len(gains))), append(largest, most)
	}
	if r.N = len(means); r.N == 0 {
		return gainRow{Verdict: same}
	}
	r.Gain, r.Largest = student(means, alpha), student(largest, alpha)
	r.Share.Value = stats.Mean(shares)
	if lo, hi, ok := stats.Interval(shares, stats.Quantity{Hi: 1, Trials: r.Users}, alpha); ok {
		r.Share.Lo, r.Share.Hi = &lo, &hi
	}
	switch {
	case still:
		r.Verdict = same
	case r.Gain.Lo != nil && *r.Gain.Lo > 0:
		r.Verdict = gains
	case r.Gain.Hi != nil && *r.Gain.Hi < 0:
		r.Verdict = loses
	default:
		r.Verdict = undecided
		if d, ok := stats.Pairs(means, make([]float64, r.N)); ok {
			if n, ok := stats.SampleFor(d.Effect, 0.8, true, alpha); ok {
				r.Needed = &n
			}
		}
	}
	return r
}

// student returns the mean of xs with Student's interval.
func student(xs []float64, alpha float64) meanEstimate {
	m := meanEstimate{Value: stats.Mean(xs)}
	if lo, hi, ok := (stats.Sample{Value: m.Value, Parts: xs}).Estimate(stats.Quantity{}).Interval(alpha); ok {
		m.Lo, m.Hi = &lo, &hi
	}
	return m
}
