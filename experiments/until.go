package experiments

import (
	"context"
	"fmt"
	"math"
	"slices"

	"bourse/experiments/metrics"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/experiments/stats"
)

// looks returns the numbers of replications after which p checks its stopping rule, in
// increasing order. The last is the maximum number of replications. Any number of looks is
// valid, because the rule uses a confidence sequence. Each look adds a tenth more
// replications, so at most about that many are wasted.
func (p *Prepared) looks() (all []int) {
	e := p.Experiment
	if u := e.Until; u != nil {
		for n := u.Min; n < e.Replications; n += max(1, n/10) {
			all = append(all, n)
		}
	}
	return append(all, e.Replications)
}

// enough runs replications until the interval of the experiment's metric is narrow enough. It
// returns the experiment with the number of replications that were run, and sets the units of
// the plan accordingly.
func (p *Prepared) enough(ctx context.Context, opts Options, to *Publication, units *results.Units, from []results.Source) (*scenario.Experiment, error) {
	e := *p.Experiment
	done, progress := 0, opts.Progress
	if progress != nil {
		opts.Progress = func(n, _ int) { progress(done+n, p.Experiment.Replications*len(e.Configurations)) }
	}
	s, all, last := newStudy(&e), p.Units(), 0
	for _, n := range p.looks() {
		e.Replications = n
		var round []Unit
		for _, u := range all {
			if u.From >= last && u.To <= n {
				round = append(round, u)
			}
		}
		if err := p.find(ctx, opts, to, units, round, from...); err != nil {
			return nil, err
		}
		to.Found = nil // it has been called
		at, err := where(from)
		if err != nil {
			return nil, err
		}
		for _, u := range round {
			unit, err := at[u.Name()].Read(u.Name())
			if err != nil {
				return nil, err
			}
			s.add(u.Configuration, unit.Values)
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
	half                  float64 // +Inf if there is none
	needed                int     // estimated number of replications from the observed variance; 0 if unknown
}

// wide returns the cells in which the interval of the stopping metric is too wide.
func (s *Study) wide() (all []wide) {
	u := s.Experiment.Until
	s.each(func(configuration, policy int, name, label string) {
		lo, hi, ok := s.anytime(configuration, policy)
		w := wide{name, label, math.Inf(1), 0}
		if ok {
			if w.half = (hi - lo) / 2; w.half <= u.HalfWidth {
				return
			}
			times := w.half / u.HalfWidth // the width is nearly proportional to 1/√n
			w.needed = int(math.Ceil(times * times * float64(s.Experiment.Replications)))
		}
		all = append(all, w)
	})
	return all
}

// watched returns the position of the metric of the stopping rule, or -1 if there is none of
// that name, and the bounds of its values.
func (s *Study) watched() (m int, lo, hi float64) {
	of := metrics.Unbounded
	m = slices.IndexFunc(s.Metrics, func(m metrics.Metric) bool { return m.Name == s.Experiment.Until.Metric })
	if m >= 0 {
		of = s.Metrics[m].Bound
	}
	lo, hi = of.Ends()
	return m, lo, hi
}

// anytime returns the confidence sequence of that metric for a cell.
func (s *Study) anytime(configuration, policy int) (lo, hi float64, ok bool) {
	m, lo, hi := s.watched()
	if m < 0 {
		return 0, 0, false
	}
	return stats.Anytime(defined(s.cells[configuration][policy].values[m]), lo, hi, 0.05)
}

// stopped describes how many replications were run, and what remains undecided.
func (s *Study) stopped() (notes []string) {
	e := s.Experiment
	if e.Until == nil {
		return nil
	}
	u, all := e.Until, s.wide()
	how := fmt.Sprintf("its 95 %% intervals are of a confidence sequence, which stopping leaves valid (%s)", conditions(s))
	if len(all) == 0 {
		return []string{fmt.Sprintf("Stopped at %d replications: every interval of %s reaches %g or less to either side; %s.", e.Replications, u.Metric, u.HalfWidth, how)}
	}
	notes = []string{fmt.Sprintf("Undecided after %d replications: %d intervals of %s reach farther than %g; %s.", e.Replications, len(all), u.Metric, u.HalfWidth, how)}
	for i, w := range all {
		if i == 10 && len(all) > 11 {
			return append(notes, fmt.Sprintf("and %d more.", len(all)-i))
		}
		if w.needed == 0 {
			notes = append(notes, fmt.Sprintf("%s under %s: no interval yet.", w.configuration, w.policy))
			continue
		}
		notes = append(notes, fmt.Sprintf("%s under %s: %.3g, which some %d replications would make narrow.", w.configuration, w.policy, w.half, w.needed))
	}
	return notes
}

// conditions describes the assumptions of the confidence sequence.
func conditions(s *Study) string {
	if _, lo, hi := s.watched(); !math.IsInf(lo, 0) && !math.IsInf(hi, 0) {
		return fmt.Sprintf("by bets on values within [%g, %g], whatever their distribution", lo, hi)
	}
	return "by t tests of normal values, of others as their means become so"
}
