package judge

import (
	"context"
	"math"
	"slices"

	"bourse/experiments"
	"bourse/experiments/metrics"
	"bourse/experiments/stats"
)

// The verdicts.
const (
	Better    = "better"
	Worse     = "worse"
	Alike     = "alike"     // the absolute difference is at most the margin
	Undecided = "undecided" // no other verdict has been reached after the last replication
	Void      = "void"      // the candidate fails a gate
)

// An Outcome is a verdict with its evidence.
type Outcome struct {
	Verdict string   `json:"verdict" doc:"better, worse, alike, undecided or void"`
	Gate    string   `json:"gate" doc:"gate that the candidate fails: error, memory, time, undefined, audit, violations, steps or worst; empty if it fails no gate"`
	N       int      `json:"n" doc:"replications"`
	Lo      *float64 `json:"lo" doc:"interval of the mean difference (candidate minus champion), rounded outward to half the margin; null if there is no interval"`
	Hi      *float64 `json:"hi"`
}

// An interval returns an interval of the mean of values between lo and hi.
type interval func(xs []float64, lo, hi float64) (l, h float64, ok bool)

// Score runs the replications of a sealed seed, and compares the policies several times. The
// first comparison is made after Settings.Score.From replications, and each later comparison
// after twice as many replications as the one before, up to Settings.Score.To.
func (j *Judging) Score(ctx context.Context, seed uint64, opts experiments.Options) (o Outcome, err error) {
	s := &j.Settings.Score
	if err := j.prepare(seed, s.To); err != nil {
		return o, err
	}
	for n := s.From; ; n = min(2*n, s.To) {
		from := o.N
		o.N = n
		if o.Gate, err = j.run(ctx, opts, from, n); err != nil {
			return o, err
		}
		if o.Gate == "" {
			o.Gate = j.gate(j.anytime)
		}
		diffs, scale := j.joint()
		if o = j.decide(o, diffs, scale); o.Verdict != Undecided || n == s.To {
			return o, nil
		}
	}
}

// decide returns o with the verdict on the differences so far. The verdict is undecided if
// there are too few differences. The argument scale is the champion's mean.
func (j *Judging) decide(o Outcome, diffs []float64, scale float64) Outcome {
	if o.Verdict = Undecided; o.Gate != "" {
		o.Verdict = Void
		return o
	}
	lo, hi := j.metric.Bound.Ends()
	l, h, ok := j.anytime(diffs, lo-hi, hi-lo)
	if !ok && len(diffs) > 0 && !slices.ContainsFunc(diffs, func(d float64) bool { return d != 0 }) {
		// Without variance, there is no t interval. Instead, compute a bound on the fraction
		// of replications in which the policies differ. In these replications, the difference
		// is at most the champion's mean.
		_, h, ok = stats.Anytime(make([]float64, len(diffs)), 0, 1, j.level())
		l, h = -h*scale, h*scale
	}
	if !ok {
		return o
	}
	switch margin := j.Settings.Margin; {
	case l >= -margin && h <= margin:
		o.Verdict = Alike
	case l > 0:
		o.Verdict = Better
	case h < 0:
		o.Verdict = Worse
	}
	step := j.Settings.Margin / 2
	l, h = math.Floor(l/step)*step, math.Ceil(h/step)*step
	for _, x := range []*float64{&l, &h} {
		*x = math.Round(*x*1e9)/1e9 + 0 // adding 0 turns -0 into 0
	}
	o.Lo, o.Hi = &l, &h
	return o
}

// level returns the maximum probability that the interval of a judgement does not contain the
// true value.
func (j *Judging) level() float64 {
	return (1 - j.Settings.Confidence) / float64(j.Settings.Judgements)
}

// anytime returns the confidence sequence at the level of a judgement.
func (j *Judging) anytime(xs []float64, lo, hi float64) (l, h float64, ok bool) {
	return stats.Anytime(xs, lo, hi, j.level())
}

// joint returns the differences of the metric's mean over configurations, candidate minus champion,
// for each replication. It also returns the champion's mean. It omits replications in which a value
// is undefined.
func (j *Judging) joint() (diffs []float64, scale float64) {
	for rep := range j.tally[0].metric[1] {
		sum, of := 0.0, 0.0
		for c := range j.tally {
			m := &j.tally[c].metric
			sum += (m[1][rep] - m[0][rep]) / float64(len(j.tally))
			of += m[0][rep] / float64(len(j.tally))
		}
		if !math.IsNaN(sum) {
			diffs, scale = append(diffs, sum), scale+math.Abs(of)
		}
	}
	return diffs, scale / max(1, float64(len(diffs)))
}

// gate returns the first gate that the candidate fails, or an empty string if it fails none.
func (j *Judging) gate(of interval) string {
	g := &j.Settings.Gates
	lo, hi := j.metric.Bound.Ends()
	for c := range j.tally {
		t := &j.tally[c]
		for i, x := range t.metric[1] {
			if math.IsNaN(x) && !math.IsNaN(t.metric[0][i]) {
				return "undefined"
			}
		}
		from, to := metrics.Violations.Bound.Ends()
		if l, _, ok := of(differences(t.violations), from-to, to-from); ok && l > g.Violations {
			return "violations"
		}
		if _, h, ok := of(differences(t.metric), lo-hi, hi-lo); ok && h < -g.Worst {
			return "worst"
		}
	}
	if j.steps > g.Steps {
		return "steps"
	}
	return ""
}
