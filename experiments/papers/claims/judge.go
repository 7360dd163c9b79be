package claims

import (
	"fmt"
	"slices"

	"bourse/experiments/stats"
)

// A Verdict is what became of a claim.
type Verdict string

// The verdicts.
const (
	Pass        Verdict = "PASS"
	Fail        Verdict = "FAIL"
	NotTestable Verdict = "NOT TESTABLE"
)

// A Judgement is a claim with its verdict.
type Judgement struct {
	ID        string  `json:"id"`
	Section   string  `json:"section"`
	Quote     string  `json:"quote"`
	Note      string  `json:"note,omitempty"`
	Otherwise string  `json:"otherwise,omitempty"`
	On        string  `json:"on,omitempty"`
	Verdict   Verdict `json:"verdict"`
	Why       string  `json:"why,omitempty" doc:"it is not testable"`

	Outcomes []Outcome `json:"tests"`
	P        *float64  `json:"p" doc:"largest of the tests; null if one has none"`
	Holm     *float64  `json:"p_holm" doc:"corrected over the paper"`
}

// An Outcome is a test with its number.
type Outcome struct {
	What  string   `json:"what" doc:"the number, in words"`
	Want  string   `json:"want" doc:"where it must lie"`
	N     int      `json:"n" doc:"replications"`
	Mean  float64  `json:"mean" doc:"over them"`
	Lo95  *float64 `json:"lo95" doc:"ends of the mean's 95 % interval; null if n is under 2"`
	Hi95  *float64 `json:"hi95"`
	Holds bool     `json:"holds" doc:"the mean lies there"`
	P     *float64 `json:"p" doc:"of the hypothesis that it does not; null if n is under 2 or nothing varies"`
}

// Judge judges the claims of a paper by results, in the order of the paper.
func Judge(p Paper, results []Results) []Judgement {
	var out []Judgement
	for _, c := range p.Claims {
		out = append(out, c.judge(results))
	}
	var ps []float64
	for _, j := range out {
		if j.P != nil {
			ps = append(ps, *j.P)
		}
	}
	corrected := stats.Holm(ps)
	for i := range out {
		if out[i].P != nil {
			out[i].Holm, corrected = &corrected[0], corrected[1:]
		}
	}
	return out
}

func (c Claim) judge(results []Results) Judgement {
	j := Judgement{ID: c.ID, Section: c.Section, Quote: c.Quote, Note: c.Note, Otherwise: c.Otherwise, On: c.On, Verdict: Pass, Why: c.Untestable, Outcomes: []Outcome{}}
	worst := 0.0
	known := true
	for _, t := range c.Tests {
		for _, one := range t.each() {
			o, err := one.run(results)
			if err != nil {
				j.Why = err.Error()
				break
			}
			j.Outcomes = append(j.Outcomes, o)
			if !o.Holds {
				j.Verdict = Fail
			}
			if known = known && o.P != nil; known {
				worst = max(worst, *o.P)
			}
		}
	}
	if j.Why != "" {
		j.Verdict = NotTestable
		return j
	}
	if known {
		j.P = &worst
	}
	return j
}

// each returns a test for each metric, policy and place.
func (t Test) each() []Test {
	var all []Test
	for _, m := range t.Metric {
		for _, of := range t.Of {
			for _, in := range t.In {
				one := t
				one.Metric, one.Of, one.In = Some[string]{m}, Some[string]{of}, Some[string]{in}
				all = append(all, one)
			}
		}
	}
	return all
}

// run computes a single test. An error says what is missing.
func (t Test) run(results []Results) (Outcome, error) {
	xs, err := t.Number.values(results)
	if err != nil {
		return Outcome{}, err
	}
	o := Outcome{What: t.Number.words(), Want: t.want()}
	if t.Over != nil {
		over := t.Over.after(t.Number)
		o.What += " over " + over.over(t.Number)
		ys, err := over.values(results)
		if err != nil {
			return Outcome{}, err
		}
		xs = differences(xs, ys)
	}
	var sample []float64
	for _, x := range xs {
		if x != nil {
			sample = append(sample, *x)
		}
	}
	if len(sample) == 0 {
		return Outcome{}, fmt.Errorf("%s is undefined", o.What)
	}
	s := stats.Summarize(sample)
	if t.Over == nil {
		s = s.Within(t.Number.ends(results))
	}
	o.N, o.Mean = s.N, s.Mean
	if s.HasInterval() {
		o.Lo95, o.Hi95 = &s.Lo95, &s.Hi95
	}
	o.Holds, o.P = t.holds(sample, s.Mean)
	return o, nil
}

// differences returns xs less ys, nil where either is.
func differences(xs, ys []*float64) []*float64 {
	out := make([]*float64, min(len(xs), len(ys)))
	for i := range out {
		if xs[i] != nil && ys[i] != nil {
			d := *xs[i] - *ys[i]
			out[i] = &d
		}
	}
	return out
}

// holds reports whether the mean lies where it must, and the p value of the
// hypothesis that it does not.
func (t Test) holds(sample []float64, mean float64) (bool, *float64) {
	switch {
	case t.Above != nil:
		return mean > *t.Above, greater(sample, *t.Above)
	case t.Below != nil:
		return mean < *t.Below, less(sample, *t.Below)
	}
	// Two one-sided tests: both ends must be excluded.
	lo, hi := greater(sample, -*t.Within), less(sample, *t.Within)
	if lo == nil || hi == nil {
		return -*t.Within <= mean && mean <= *t.Within, nil
	}
	p := max(*lo, *hi)
	return -*t.Within <= mean && mean <= *t.Within, &p
}

// greater returns the p value of a mean of at most x.
func greater(sample []float64, x float64) *float64 {
	r, ok := stats.PairedT(sample, slices.Repeat([]float64{x}, len(sample)))
	if !ok {
		return nil
	}
	return &r.Greater
}

// less returns the p value of a mean of at least x.
func less(sample []float64, x float64) *float64 {
	r, ok := stats.PairedT(slices.Repeat([]float64{x}, len(sample)), sample)
	if !ok {
		return nil
	}
	return &r.Greater
}
