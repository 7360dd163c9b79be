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

// Candidates are the fits that a quantity is given, by name.
type Candidates struct {
	IAT, Run, Procs []string
}

// DefaultCandidates returns the market paper's laws and their usual rivals.
func DefaultCandidates() Candidates {
	return Candidates{
		IAT:   []string{"exponential", "weibull", "gamma", "lognormal", "pareto", "gpareto", "hyperexp", "hypweib"},
		Run:   []string{"exponential", "weibull", "gamma", "lognormal", "pareto", "gpareto", "hypergamma", "lognormal2", "polylin"},
		Procs: []string{"binbin", "zipf"},
	}
}

// OrDefault returns c with the default laws where it has none.
func (c Candidates) OrDefault() Candidates {
	d := DefaultCandidates()
	if c.IAT != nil {
		d.IAT = c.IAT
	}
	if c.Run != nil {
		d.Run = c.Run
	}
	if c.Procs != nil {
		d.Procs = c.Procs
	}
	return d
}

// An Outcome is a fit, or why there is none.
type Outcome struct {
	fit.Fit
	Err error
}

// A Report holds the fits of a log's quantities, the nearest to the sample
// first, those that failed last.
type Report struct {
	IAT, Run, Procs []Outcome
}

// FitLog fits every candidate to its quantity of the log.
func FitLog(ctx context.Context, l *describe.Log, c Candidates, o fit.Options, workers int) (*Report, error) {
	var r Report
	type task struct {
		sample *fit.Sample
		name   string
		out    *Outcome
	}
	var tasks []task
	for _, q := range []struct {
		values describe.Quantity
		names  []string
		out    *[]Outcome
	}{{l.IAT, c.IAT, &r.IAT}, {l.Run, c.Run, &r.Run}, {l.Procs, c.Procs, &r.Procs}} {
		if len(q.names) == 0 {
			continue
		}
		s, err := fit.NewSample(q.values.Values)
		if err != nil {
			return nil, fmt.Errorf("fit %s: %w", q.values.Name, err)
		}
		s.Prepare()
		*q.out = make([]Outcome, len(q.names))
		for i, name := range q.names {
			tasks = append(tasks, task{s, name, &(*q.out)[i]})
		}
	}
	err := each(ctx, len(tasks), workers, func(i int) error {
		t := tasks[i]
		t.out.Fit, t.out.Err = fit.New(t.name, t.sample, o)
		t.out.Name = t.name
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, list := range [][]Outcome{r.IAT, r.Run, r.Procs} {
		slices.SortStableFunc(list, func(a, b Outcome) int { return cmp.Compare(a.order(), b.order()) })
	}
	return &r, nil
}

func (o *Outcome) order() float64 {
	if o.Err != nil {
		return math.Inf(1)
	}
	return o.KS
}

// Choice names the fit to use of each quantity; empty is the nearest.
type Choice struct {
	IAT, Run, Procs string
}

// File returns the model file of the chosen fits: as many users and jobs as the
// log has, no job wider than its machine. Source says what log it was.
func (r *Report) File(c Choice, l *describe.Log, source string) (models.File, error) {
	f := models.File{Model: "independent", Options: map[string]any{
		"jobs": l.Ran, "users": max(1, l.Users),
	}}
	if l.Processors > 0 {
		f.Options["widest"] = l.Processors
	}
	f.About = []string{fmt.Sprintf("fitted to %s: %d records, %d that ran", source, l.Records, l.Ran)}
	for _, q := range []struct {
		key, name string
		fits      []Outcome
	}{{"iat", c.IAT, r.IAT}, {"runtime", c.Run, r.Run}, {"nodes", c.Procs, r.Procs}} {
		o, err := chosen(q.name, q.fits)
		if err != nil {
			return f, fmt.Errorf("%s: %w", q.key, err)
		}
		f.Options[q.key] = config.Spec{Name: o.Law.Name, Options: o.Law.Options}
		f.About = append(f.About, fmt.Sprintf("%s: %s, distance %.4f", q.key, o.Name, o.KS))
	}
	return f, nil
}

// Remember gives the gaps of a model the memory of the log's.
func Remember(f *models.File, l *describe.Log) error {
	h := l.RescaledRange.H
	if !(h > 0 && h < 1) {
		return misuse.Errorf("the gaps have Hurst exponent %v, want one in (0,1)", h)
	}
	f.Options["hurst"] = h
	f.About = append(f.About, fmt.Sprintf("gaps: Hurst exponent %.3f by R/S", h))
	return nil
}

func chosen(name string, fits []Outcome) (*Outcome, error) {
	for i := range fits {
		if o := &fits[i]; name == o.Name || name == "" && o.Err == nil {
			return o, o.Err
		}
	}
	return nil, fmt.Errorf("no fit %q", name)
}
