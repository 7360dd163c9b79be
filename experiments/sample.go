package experiments

import (
	"context"
	"math"
	"sync/atomic"

	"bourse/experiments/metrics"
	"bourse/experiments/results"
)

// Alike returns the configurations of p in which every replication has the same jobs and hosts.
func (p *Prepared) Alike() []string { return p.alike }

// Sampler returns a function that runs the replications from to to-1 of some configurations of
// p, and returns a metric of their last policy, a row for each configuration. NaN means
// undefined.
func (p *Prepared) Sampler(metric metrics.Metric, opts Options) func(ctx context.Context, configurations []int, from, to int) ([][]float64, error) {
	workers := max(1, opts.Workers)
	arenas := make([]*arena, workers)
	for i := range arenas {
		arenas[i] = newArena()
	}
	return func(ctx context.Context, configurations []int, from, to int) ([][]float64, error) {
		all := make([][]float64, len(configurations))
		var begun atomic.Int32
		begin := func(ctx context.Context) func(int) (float64, error) {
			a := arenas[begun.Add(1)-1]
			return func(i int) (value float64, err error) {
				// All configurations of a replication run next to each other, because they mostly
				// have the same jobs.
				r := &Replication{Configuration: configurations[i%len(all)], Rep: from + i/len(all)}
				err = a.each(ctx, p.Experiment, p.settings, r, Options{}, func(_ int, run *Run) error {
					var ok bool
					if value, ok = metric.Of(&run.Outcome); !ok {
						value = math.NaN()
					}
					a.spare.give(run)
					return nil
				})
				return value, err
			}
		}
		i := 0
		err := InOrder(ctx, len(all)*(to-from), workers, begin, func(value float64) error {
			all[i%len(all)] = append(all[i%len(all)], value)
			i++
			return nil
		})
		return all, err
	}
}

// Keep runs the units of p that to.Dir lacks, and returns the measurements of all units, which
// stay there until they are removed. A run that is interrupted can be continued.
func (p *Prepared) Keep(ctx context.Context, opts Options, to Publication) (s *Study, units *results.Units, err error) {
	if to.Dir, err = results.Unfinished(to.Dir); err != nil {
		return nil, nil, err
	}
	if to.Fresh {
		if err := results.Forget(to.Dir); err != nil {
			return nil, nil, err
		}
	}
	to.Tables, to.Bare = results.None, true
	plan := p.plan(&to)
	if units, err = results.OpenUnits(to.Dir, plan, false); err != nil {
		return nil, nil, err
	}
	if err = p.find(ctx, opts, &to, units, p.Units(), units); err != nil {
		units.Leave()
		return nil, nil, err
	}
	s = newStudy(p.Experiment)
	at, err := where([]results.Source{units})
	if err == nil {
		err = s.gather(&plan, at.find, func(Unit, *results.Unit, string) error { return nil })
	}
	if err != nil {
		units.Close()
	}
	return s, units, err
}

// Values returns a metric by replication, NaN where it is undefined, or nil if it was not
// measured.
func (s *Study) Values(configuration, policy int, metric string) []float64 {
	for m := range s.Metrics {
		if s.Metrics[m].Name == metric {
			return s.cells[configuration][policy].values[m]
		}
	}
	return nil
}
