package experiments

import (
	"context"
	"math"
	"sync/atomic"

	"bourse/experiments/metrics"
)

// Alike returns the configurations of p whose replications all have the same jobs and
// hosts.
func (p *Prepared) Alike() []string { return p.alike }

// Sampler returns a function that runs the replications from, from+1, …, to−1 of some
// configurations of p. The function returns a metric under the last policy, with one row per
// configuration. NaN means undefined.
func (p *Prepared) Sampler(metric metrics.Metric, opts Options) func(ctx context.Context, configurations []int, from, to int) ([][]float64, error) {
	workers := max(1, opts.Workers)
	workspaces := make([]*workspace, workers)
	for i := range workspaces {
		workspaces[i] = newWorkspace()
	}
	return func(ctx context.Context, configurations []int, from, to int) ([][]float64, error) {
		all := make([][]float64, len(configurations))
		var begun atomic.Int32
		begin := func(ctx context.Context) func(int) (float64, error) {
			a := workspaces[begun.Add(1)-1]
			return func(i int) (value float64, err error) {
				// All configurations of a replication run in sequence, because they usually
				// share the same jobs.
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

// Values returns a metric by replication, with NaN if the metric is undefined. It returns
// nil if the metric was not measured.
func (s *Study) Values(configuration, policy int, metric string) []float64 {
	for m := range s.Metrics {
		if s.Metrics[m].Name == metric {
			return s.Cells[configuration][policy].Values[m]
		}
	}
	return nil
}
