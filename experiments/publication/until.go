package publication

import (
	"context"
	"fmt"
	"math"

	"bourse/experiments"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
)

// enough runs replications until the interval of the stopping rule's metric is sufficiently
// narrow. It returns the experiment with the number of replications that were run. It sets the
// units of the plan to the units that were run.
func enough(ctx context.Context, p *experiments.Prepared, opts experiments.Options, to *Target, units *results.Units, from []results.Source) (*scenario.Experiment, error) {
	e := *p.Experiment
	done, progress := 0, opts.Progress
	if progress != nil {
		opts.Progress = func(n, _ int) { progress(done+n, p.Experiment.Replications*len(e.Configurations)) }
	}
	s, all, last := &Report{Study: experiments.NewStudy(&e)}, p.Units(), 0
	for _, n := range p.Looks() {
		e.Replications = n
		var round []experiments.Unit
		for _, u := range all {
			if u.From >= last && u.To <= n {
				round = append(round, u)
			}
		}
		if err := find(ctx, p, opts, to, units, round, from...); err != nil {
			return nil, err
		}
		to.Found = nil // Found must be called only once
		at, err := where(from)
		if err != nil {
			return nil, err
		}
		for _, u := range round {
			unit, err := at[u.Name()].Read(u.Name())
			if err != nil {
				return nil, err
			}
			s.Add(u.Configuration, unit.Values)
			done += u.To - u.From
		}
		if last = n; len(s.wide()) == 0 {
			break
		}
	}
	names := units.Plan.Units[:0:0]
	for _, u := range all {
		if u.To <= e.Replications {
			names = append(names, u.Name())
		}
	}
	units.Plan.Units, units.Plan.Replications = names, e.Replications
	return &e, nil
}

// A wide is a cell whose interval is wider than the experiment requires.
type wide struct {
	configuration, policy string
	half                  float64 // half-width of the interval; +Inf if there is no interval
	needed                int     // estimated number of replications needed, from the observed variance; 0 if unknown
}

// wide returns the cells in which the interval of the stopping metric is too wide.
func (s *Report) wide() (all []wide) {
	u := s.Experiment.Until
	s.Each(func(configuration, policy int, name, label string) {
		lo, hi, ok := s.Anytime(configuration, policy)
		w := wide{name, label, math.Inf(1), 0}
		if ok {
			if w.half = (hi - lo) / 2; w.half <= u.HalfWidth {
				return
			}
			times := w.half / u.HalfWidth // because the width is nearly proportional to 1/√n
			w.needed = int(math.Ceil(times * times * float64(s.Experiment.Replications)))
		}
		all = append(all, w)
	})
	return all
}

// stopped describes how many replications were run and which comparisons remain undecided.
func (s *Report) stopped() (notes []string) {
	e := s.Experiment
	if e.Until == nil {
		return nil
	}
	u, all := e.Until, s.wide()
	how := fmt.Sprintf("the 95 %% intervals are confidence sequences, which remain valid after early stopping (%s)", conditions(s))
	if len(all) == 0 {
		return []string{fmt.Sprintf("Stopped after %d replications, because every interval of %s has a half-width of at most %g; %s.", e.Replications, u.Metric, u.HalfWidth, how)}
	}
	notes = []string{fmt.Sprintf("Undecided after %d replications: %d intervals of %s have a half-width of more than %g; %s.", e.Replications, len(all), u.Metric, u.HalfWidth, how)}
	for i, w := range all {
		if i == 10 && len(all) > 11 {
			return append(notes, fmt.Sprintf("and %d more.", len(all)-i))
		}
		if w.needed == 0 {
			notes = append(notes, fmt.Sprintf("%s under %s has no interval yet.", w.configuration, w.policy))
			continue
		}
		notes = append(notes, fmt.Sprintf("%s under %s has a half-width of %.3g; about %d replications would make the interval narrow enough.", w.configuration, w.policy, w.half, w.needed))
	}
	return notes
}

// conditions describes the assumptions of the confidence sequence.
func conditions(s *Report) string {
	if _, lo, hi := s.Watched(); !math.IsInf(lo, 0) && !math.IsInf(hi, 0) {
		return fmt.Sprintf("by betting on values within [%g, %g], for any distribution of the values", lo, hi)
	}
	return "by t tests, which are exact for normal values and approximate for other values"
}
