package study

import (
	"context"
	"strconv"
	"strings"

	"bourse/experiments"
	"bourse/experiments/papers"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
)

// JudgeReadings runs the presets of the market paper under each registered reading, and tests
// the paper's claims under each reading. If there are rows measured on the paper's log, it
// also tests the claims about the log.
func JudgeReadings(ctx context.Context, opts experiments.Options, replications int, seed uint64, log []results.Metric) ([]papers.Judged, error) {
	return papers.JudgeReadings(func(preset string, sets, names []string) ([]results.Metric, error) {
		sets = append(sets, "seed="+strconv.FormatUint(seed, 10), "replications="+strconv.Itoa(replications), "figure.metrics=["+strings.Join(names, ", ")+"]")
		e, err := scenario.Parse("preset "+preset, papers.Presets()[preset], experiments.Known(), sets...)
		if err != nil {
			return nil, err
		}
		p, err := experiments.Prepare(&e)
		if err != nil {
			return nil, err
		}
		s := experiments.NewStudy(p.Experiment)
		var found []float64
		err = p.Each(ctx, opts, func(r *experiments.Replication) error {
			found = append(found[:0], 0) // kind of U*, which no claim uses
			for _, run := range r.Runs {
				found = s.Measure(run, found)
			}
			s.Add(r.Configuration, found)
			return nil
		})
		if err != nil {
			return nil, err
		}
		return s.MetricRows(names...), nil
	}, log)
}
