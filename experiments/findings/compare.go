package findings

import (
	"fmt"
	"math"

	"bourse/experiments/results"
	"bourse/experiments/stats"
)

// level is that of all intervals of a finding at once.
const level = 0.05

// A Comparison is of two that were run on the same replications, or of one and what was
// promised.
type Comparison struct {
	Metric string `json:"metric"`
	Within string `json:"within" doc:"what both have in common"`
	First  string `json:"first"`
	Second string `json:"second"`
	N      int    `json:"n" doc:"replications"`

	FirstMean  float64  `json:"first_mean"`
	SecondMean float64  `json:"second_mean"`
	Difference float64  `json:"difference" doc:"the first less the second"`
	Lo         *float64 `json:"lo" doc:"of the difference; null where replications do not vary"`
	Hi         *float64 `json:"hi"`
	Needed     *int     `json:"needed" doc:"replications that would show a difference like this with a power of 80 %, where it cannot be told"`
	Verdict    string   `json:"verdict" doc:"higher, lower, or cannot be told apart: the first; the same"`

	effect float64 // the difference over its deviation, of one replication
	alpha  float64 // chance of the interval to miss
}

// The verdicts of comparisons.
const (
	higher = "higher"
	lower  = "lower"
	untold = "cannot be told apart"
	same   = "the same"
)

// A pair is two policies of a configuration.
type pair struct{ configuration, first, second string }

// compare compares pairs in the metrics of a part, as all of a family of so many.
func (e *Evidence) compare(part string, metrics []string, pairs []pair, family int) (all []Comparison, err error) {
	for _, m := range metrics {
		for _, p := range pairs {
			first, second := series(e.Rows[part], p.configuration, p.first, m), series(e.Rows[part], p.configuration, p.second, m)
			var xs, ys []float64
			for rep, x := range first[:min(len(first), len(second))] {
				if y := second[rep]; !math.IsNaN(x) && !math.IsNaN(y) {
					xs, ys = append(xs, x), append(ys, y)
				}
			}
			if len(xs) == 0 {
				return nil, fmt.Errorf("part %s: found no %s of both %s and %s in %s", part, m, p.first, p.second, p.configuration)
			}
			c := Comparison{Metric: m, Within: p.configuration, First: p.first, Second: p.second, N: len(xs), FirstMean: stats.Mean(xs), SecondMean: stats.Mean(ys)}
			d, ok := stats.Pairs(xs, ys)
			if c.Difference = d.Mean; ok {
				lo, hi := d.Interval(level / float64(family))
				c.Lo, c.Hi, c.effect, c.alpha = &lo, &hi, d.Effect, level/float64(family)
			}
			c.judge()
			all = append(all, c)
		}
	}
	return all, nil
}

// judge fills in the verdict, by the interval.
func (c *Comparison) judge() {
	switch {
	case c.Lo != nil && *c.Lo > 0:
		c.Verdict = higher
	case c.Hi != nil && *c.Hi < 0:
		c.Verdict = lower
	case c.Lo == nil && c.Difference == 0:
		c.Verdict = same
	default:
		c.Verdict = untold
	}
}

// need fills in how many replications would tell, where these do not.
func (c *Comparison) need() {
	if c.Verdict != untold || c.Needed != nil || c.alpha == 0 {
		return
	}
	if n, ok := stats.SampleFor(c.effect, 0.8, true, c.alpha); ok {
		c.Needed = &n
	}
}

// from returns c as it is told by one of its two: that less the other.
func (c Comparison) from(one string) Comparison {
	if c.First == one {
		return c
	}
	c.First, c.Second, c.FirstMean, c.SecondMean = c.Second, c.First, c.SecondMean, c.FirstMean
	c.Difference = -c.Difference
	if c.Lo != nil {
		lo, hi := -*c.Hi, -*c.Lo
		c.Lo, c.Hi = &lo, &hi
	}
	c.judge()
	return c
}

// series returns a metric by replication, NaN where it is undefined.
func series(rows []results.Metric, configuration, policy, metric string) (xs []float64) {
	for _, r := range rows {
		if r.Configuration != configuration || r.Admission != policy || r.Metric != metric {
			continue
		}
		for len(xs) <= r.Replication {
			xs = append(xs, math.NaN())
		}
		if r.Value != nil {
			xs[r.Replication] = *r.Value
		}
	}
	return xs
}

// promised holds the mean of a metric in [0,1] against what it may be at most, as one of a
// family of so many.
func (e *Evidence) promised(part, metric, configuration, policy string, most float64, family int) (Comparison, error) {
	var xs []float64
	of, known := stats.Quantity{Hi: 1}, true
	for _, r := range e.Rows[part] {
		if r.Configuration != configuration || r.Admission != policy || r.Metric != metric || r.Value == nil {
			continue
		}
		xs = append(xs, *r.Value)
		if known = known && r.Trials != nil; known {
			of.Trials += *r.Trials
		}
	}
	if !known {
		of.Trials = 0
	}
	if len(xs) == 0 {
		return Comparison{}, fmt.Errorf("part %s: found no %s of %s in %s", part, metric, policy, configuration)
	}
	c := Comparison{Metric: metric, Within: policy, First: configuration, Second: "promised", N: len(xs), FirstMean: stats.Mean(xs), SecondMean: most}
	c.Difference = c.FirstMean - most
	if lo, hi, ok := stats.Interval(xs, of, level/float64(family)); ok {
		lo, hi = lo-most, hi-most
		c.Lo, c.Hi = &lo, &hi
	}
	if len(xs) > 1 {
		if sd := stats.Deviation(xs); sd > 0 {
			c.effect, c.alpha = c.Difference/sd, level/float64(family)
		}
	}
	c.judge()
	return c, nil
}
