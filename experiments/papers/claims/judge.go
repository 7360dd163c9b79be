package claims

import (
	"fmt"
	"math"

	"bourse/experiments/stats"
)

// A Verdict is the result of testing a claim.
type Verdict string

// The possible verdicts.
const (
	Supported    Verdict = "SUPPORTED"
	Contradicted Verdict = "CONTRADICTED"
	Undecided    Verdict = "UNDECIDED"
	NotTestable  Verdict = "NOT TESTABLE"
)

// A Judgement is a claim with its verdict.
type Judgement struct {
	ID        string  `json:"id"`
	Section   string  `json:"section"`
	Quote     string  `json:"quote"`
	Note      string  `json:"note,omitempty"`
	Otherwise string  `json:"otherwise,omitempty"`
	PostHoc   string  `json:"post_hoc,omitempty" doc:"reason why this variant was added after results were seen"`
	Since     string  `json:"registered,omitempty" doc:"registration: as registered, changed or added since the run, or not recorded"`
	Verdict   Verdict `json:"verdict"`
	Half      Verdict `json:"verdict_half_margin" doc:"verdict if each margin is halved"`
	Why       string  `json:"why,omitempty" doc:"reason why the claim is not testable"`

	// Panels contains, for each verdict, the number of panels with this verdict on the
	// sentence. A panel is one metric in one configuration of an experiment.
	Panels map[Verdict]int `json:"panels" doc:"number of panels on which the claim is tested, by verdict; a panel is a metric in a configuration of an experiment"`

	Outcomes []Outcome `json:"tests"`
	Decides  int       `json:"decides" doc:"index of the test that decides the verdict, counted from 0; -1 if there is none"`
	P        *float64  `json:"p" doc:"p value for the hypothesis that the verdict is wrong, corrected for all claims of the paper; null if there is none. An undecided claim has the smaller of two p values"`
	Needed   *int      `json:"n_decides" doc:"estimated number of replications needed to decide the claim; null if it is decided or the number is unknown"`
}

// An Outcome is the result of one test, with its number.
type Outcome struct {
	What   string   `json:"what" doc:"description of the number"`
	Want   string   `json:"want" doc:"region in which the number must lie"`
	Margin float64  `json:"margin" doc:"smallest relevant difference"`
	Source string   `json:"source" doc:"source of the margin"`
	N      int      `json:"n" doc:"replications"`
	Value  float64  `json:"estimate"`
	Lo     *float64 `json:"lo" doc:"interval, corrected for all claims of the paper; null if it does not exist or is unbounded"`
	Hi     *float64 `json:"hi"`
	Level  float64  `json:"level" doc:"level of the interval, chosen so that all intervals of the paper's claims are simultaneous at 0.95"`
	Where  Verdict  `json:"verdict" doc:"verdict of this test only"`
	Exact  string   `json:"exact,omitempty" doc:"reason why the number needs no interval"`
	Equal  bool     `json:"equal" doc:"whether the interval lies within the margin, so that any difference is too small to matter; only for claims about a direction"`
	P      *float64 `json:"p" doc:"uncorrected p value for the hypothesis that the number lies outside the region; null if the number has no interval"`
}

// risk is the maximum probability that at least one claim of a paper has a wrong verdict.
const risk = 0.05

// Judge tests the claims of a paper against results, in the paper's order.
func Judge(p Paper, results []*Results) []Judgement {
	m := 0
	for _, c := range p.Claims {
		if c.Untestable == "" && c.PostHoc == "" {
			m++
		}
	}
	var out []Judgement
	for _, c := range p.Claims {
		out = append(out, c.judge(results, max(m, 1)))
	}
	return out
}

// A finding is the number of a test and its position relative to the region.
type finding struct {
	stats.Estimate
	region, half region
	exact        bool // whether the number is compared with the region directly
	equal        func(lo, hi float64) bool

	inside, outside float64 // p-values for the number being inside and outside the region
}

// judge tests c, which is one of m tested claims.
func (c Claim) judge(results []*Results, m int) Judgement {
	j := Judgement{
		ID: c.ID, Section: c.Section, Quote: c.Quote, Note: c.Note, Otherwise: c.Otherwise, PostHoc: c.PostHoc,
		Verdict: NotTestable, Half: NotTestable, Why: c.Untestable, Panels: map[Verdict]int{}, Outcomes: []Outcome{}, Decides: -1,
	}
	var all []finding
	panels := make(map[string][]int) // indices of tests, by panel
	for _, r := range c.Rows {
		for _, one := range r.each() {
			o, f, panel, err := c.run(one, results)
			if err != nil {
				j.Why, j.Outcomes = err.Error(), []Outcome{}
				return j
			}
			panels[panel] = append(panels[panel], len(all))
			all = append(all, f)
			j.Outcomes = append(j.Outcomes, o)
		}
	}
	if len(all) == 0 {
		return j
	}
	alpha := risk / float64(m)
	for i := range all {
		all[i].test()
		j.Outcomes[i].fill(all[i], alpha)
	}
	for _, tests := range panels {
		var own []finding
		for _, i := range tests {
			own = append(own, all[i])
		}
		v, _, _ := verdict(own, alpha)
		j.Panels[v]++
	}
	var p float64
	j.Verdict, j.Decides, p = verdict(all, alpha)
	j.Half = half(all, alpha)
	if j.Outcomes[j.Decides].P != nil {
		p = min(1, p*float64(m))
		j.P = &p
	}
	if j.Verdict == Undecided {
		j.Needed = needed(all, alpha)
	}
	return j
}

// verdict returns the verdict on a claim at the given level, the test on which the verdict
// depends, and its p-value. If the numbers are inside, it is the largest p-value. If they are
// outside, it is k times the smallest p-value, where k is the number of candidates.
func verdict(all []finding, alpha float64) (v Verdict, decides int, p float64) {
	var last, first int
	for i, f := range all {
		if f.inside > all[last].inside {
			last = i
		}
		if f.outside < all[first].outside {
			first = i
		}
	}
	inside, outside := all[last].inside, min(1, all[first].outside*float64(len(all)))
	switch {
	case inside <= alpha:
		return Supported, last, inside
	case outside <= alpha:
		return Contradicted, first, outside
	case inside <= outside:
		return Undecided, last, inside
	}
	return Undecided, last, outside
}

// half returns the verdict for half of every margin.
func half(all []finding, alpha float64) Verdict {
	supported := true
	for _, f := range all {
		supported = supported && f.lies(alpha, f.half.inside)
	}
	if supported {
		return Supported
	}
	for _, f := range all {
		if f.lies(alpha/float64(len(all)), f.half.outside) || f.exact && !f.lies(alpha, f.half.inside) {
			return Contradicted
		}
	}
	return Undecided
}

// lies reports whether f has the given position. If f has an interval, the interval at level
// alpha must have this position.
func (f finding) lies(alpha float64, where func(lo, hi float64) bool) bool {
	if f.exact {
		return where(f.Value, f.Value)
	}
	lo, hi, ok := f.Interval(alpha)
	return ok && where(lo, hi)
}

// test computes the p-values for f being inside and outside its region.
func (f *finding) test() {
	switch {
	case f.exact && f.region.inside(f.Value, f.Value):
		f.inside, f.outside = 0, 1
	case f.exact:
		f.inside, f.outside = 1, 0
	default:
		f.inside, f.outside = f.Level(f.region.inside), f.Level(f.region.outside)
	}
}

// fill completes o with the values of f and the interval at level alpha.
func (o *Outcome) fill(f finding, alpha float64) {
	o.Where, _, _ = verdict([]finding{f}, alpha)
	o.Equal = f.lies(alpha, f.equal)
	o.Level = 1 - alpha
	lo, hi, ok := f.Interval(alpha)
	if !ok || f.exact {
		return
	}
	if !math.IsInf(lo, 0) && !math.IsInf(hi, 0) {
		o.Lo, o.Hi = &lo, &hi
	}
	p := min(f.inside, f.outside)
	o.P = &p
}

// needed returns how many replications would decide a claim. If all numbers seem to be inside,
// the replications must be sufficient to show this for every number. If not, they must be
// sufficient to show that one number is outside.
func needed(all []finding, alpha float64) *int {
	var enough *int
	outside := false
	for _, f := range all {
		outside = outside || !f.region.inside(f.Value, f.Value)
	}
	if outside {
		alpha /= float64(len(all))
	}
	for _, f := range all {
		if f.exact || f.region.inside(f.Value, f.Value) == outside {
			continue
		}
		n, ok := f.Needed(alpha, f.region.room(f.Value))
		n = max(n, f.N)
		switch {
		case !ok && !outside:
			return nil
		case !ok:
		case enough == nil, outside && n < *enough, !outside && n > *enough:
			enough = &n
		}
	}
	return enough
}

// run computes a row that has a single metric, policy and place. An error describes which
// data are missing.
func (c Claim) run(r Row, results []*Results) (o Outcome, f finding, panel string, err error) {
	all, err := r.measures()
	if err != nil {
		return o, f, "", err
	}
	varies := false
	for i := range all {
		if err := all[i].look(results); err != nil {
			return o, f, "", err
		}
		varies = varies || all[i].varies
	}
	o = Outcome{What: r.Metric[0] + " of " + r.Policy[0] + ", " + r.Place[0], Margin: r.Margin, Source: r.Source}
	f.region, f.half, f.equal = r.region(1), r.region(0.5), r.equal
	o.Want = f.region.words()
	var same bool
	if f.Estimate, same, err = estimate(all); err != nil {
		return o, f, "", err
	}
	o.N, o.Value = f.N, f.Value
	switch {
	case !varies:
		o.Exact = "not random: all replications are the same run"
	case same:
		o.Exact = c.NoChance
	}
	f.exact = o.Exact != ""
	return o, f, fmt.Sprint(r.Metric[0], all[0].experiment, all[0].configurations), nil
}
