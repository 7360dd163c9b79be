package fitlab

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"bourse/experiments/misuse"
	"bourse/workloadgen/config"
	"bourse/workloadgen/describe"
	"bourse/workloadgen/fit"
	"bourse/workloadgen/models"
)

// quantities are the quantities to which distributions are fitted, with their names in text
// and in JSON.
var quantities = [3]struct{ title, name string }{
	{"Gaps between arrivals (s)", "iat"}, {"Runtimes (s)", "runtime"}, {"Sizes (processors)", "nodes"},
}

// Candidates are the names of the distributions to be fitted to gaps, runtimes and sizes.
type Candidates [3][]string

// defaultCandidates returns the market paper's distributions and their usual alternatives.
func defaultCandidates() Candidates {
	return Candidates{
		{"exponential", "weibull", "gamma", "lognormal", "pareto", "gpareto", "hyperexp", "hypweib"},
		{"exponential", "weibull", "gamma", "lognormal", "pareto", "gpareto", "hypergamma", "lognormal2", "polylin"},
		{"binbin", "zipf"},
	}
}

// OrDefault returns c with the default distributions for each quantity for which c has
// none.
func (c Candidates) OrDefault() Candidates {
	for i, laws := range defaultCandidates() {
		if c[i] == nil {
			c[i] = laws
		}
	}
	return c
}

// An outcome is a fit, or the reason why the fit failed.
type outcome struct {
	fit.Fit
	Err error
}

// A Report contains the fits of gaps, runtimes and sizes. The fit closest to the sample is
// first, and failed fits are last.
type Report [3][]outcome

// FitLog fits every candidate distribution to its quantity of the log.
func FitLog(ctx context.Context, l *describe.Log, c Candidates, o fit.Options, workers int) (*Report, error) {
	var r Report
	var samples []*fit.Sample
	var outs []*outcome
	for i, q := range []*describe.Quantity{&l.IAT, &l.Run, &l.Procs} {
		if len(c[i]) == 0 {
			continue
		}
		s, err := fit.NewSample(q.Values)
		if err != nil {
			return nil, fmt.Errorf("fit %s: %w", q.Name, err)
		}
		s.Prepare()
		r[i] = make([]outcome, len(c[i]))
		for k, name := range c[i] {
			r[i][k].Name = name
			samples, outs = append(samples, s), append(outs, &r[i][k])
		}
	}
	err := each(ctx, len(outs), workers, func(i int) error {
		name := outs[i].Name
		outs[i].Fit, outs[i].Err = fit.New(name, samples[i], o)
		outs[i].Name = name
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, list := range r {
		slices.SortStableFunc(list, func(a, b outcome) int { return cmp.Compare(a.order(), b.order()) })
	}
	return &r, nil
}

func (o *outcome) order() float64 {
	if o.Err != nil {
		return math.Inf(1)
	}
	return o.KS
}

// File returns a model file with the closest fits. The model has as many users and jobs as the
// log, and no job is larger than the machine of the log. Source describes the log.
func (r *Report) File(l *describe.Log, source string) (models.File, error) {
	f := models.File{Model: "independent", Options: map[string]any{
		"jobs": l.Ran, "users": max(1, l.Users),
	}}
	if l.Processors > 0 {
		f.Options["widest"] = l.Processors
	}
	f.About = []string{fmt.Sprintf("fitted to %s, a log with %d records (%d of jobs that ran)", source, l.Records, l.Ran)}
	for i, q := range quantities {
		if len(r[i]) == 0 || r[i][0].Err != nil {
			return f, fmt.Errorf("%s: no fit", q.name)
		}
		o := &r[i][0]
		f.Options[q.name] = config.Spec{Name: o.Law.Name, Options: o.Law.Options}
		f.About = append(f.About, fmt.Sprintf("%s: %s, distance %.4f", q.name, o.Name, o.KS))
	}
	return f, nil
}

// Remember stores the Hurst exponent of the log's gaps in the model of the gaps.
func Remember(f *models.File, l *describe.Log) error {
	h := l.RescaledRange.H
	if !(h > 0 && h < 1) {
		return misuse.Errorf("found the Hurst exponent %v of the gaps, want an exponent in (0,1)", h)
	}
	f.Options["hurst"] = h
	f.About = append(f.About, fmt.Sprintf("gaps: Hurst exponent %.3f by R/S", h))
	return nil
}
