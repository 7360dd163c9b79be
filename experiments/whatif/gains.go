package whatif

import (
	"math"

	"bourse/experiments/stats"
)

// familyLevel is the simultaneous error level of all intervals of a family.
const familyLevel = 0.05

// A meanEstimate is a mean over replications with its interval.
type meanEstimate struct {
	Value float64  `json:"value"`
	Lo    *float64 `json:"lo" doc:"interval; null if replications do not vary, or if there is only one replication"`
	Hi    *float64 `json:"hi"`
}

// A gainRow is the gain of users by one deviation under one policy.
type gainRow struct {
	Configuration string       `json:"configuration"`
	Policy        string       `json:"policy"`
	Deviation     string       `json:"deviation" doc:"misreport, as KIND=NUMBER; or best, for the misreport with the largest gain of each user"`
	N             int          `json:"n" doc:"number of replications; each replication is one unit of the intervals"`
	Users         int          `json:"users" doc:"number of users sampled, over all replications"`
	Gain          meanEstimate `json:"gain" doc:"gain of a user in true utility, $"`
	Share         meanEstimate `json:"share" doc:"percentage of users who gain more than epsilon"`
	Largest       meanEstimate `json:"largest" doc:"largest gain among the users of a replication, $"`
	Most          float64      `json:"most" doc:"largest gain over all replications, $"`
	Needed        *int         `json:"needed" doc:"number of replications needed to detect the observed mean gain with a power of 80 %"`
	Verdict       string       `json:"verdict" doc:"verdict by the interval of the mean: gains, loses, undecided or nothing changes; empty for best"`
}

// These constants are the verdicts on a mean gain.
const (
	gains     = "gains"
	loses     = "loses"
	undecided = "undecided"
	same      = "nothing changes"
)

// A sample contains the gains of users by one deviation, for each replication.
type sample [][]float64

// weighed returns the estimates from a sample. With probability at least 95 %, all the
// intervals of a family of the given size are correct (Bonferroni). Replications are the
// independent units. Each replication contributes one value to each estimate: the mean gain
// of its users (Student's t), the fraction of users who gain (clustered trials) and the
// largest gain.
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
