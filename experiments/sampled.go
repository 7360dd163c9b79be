package experiments

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync/atomic"

	"bourse/experiments/metrics"
	"bourse/experiments/misuse"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/experiments/tune"
)

// sampler returns a function that runs replications of the configurations of p and measures
// them.
func (p *Prepared) sampler(metric metrics.Metric, opts Options) tune.Sampler {
	workers := max(1, opts.Workers)
	arenas := make([]*arena, workers)
	for i := range arenas {
		arenas[i] = newArena()
	}
	return func(ctx context.Context, arms []int, from, to int) ([][]float64, error) {
		all := make([][]float64, len(arms))
		var begun atomic.Int32
		begin := func(ctx context.Context) func(int) (float64, error) {
			a := arenas[begun.Add(1)-1]
			return func(i int) (value float64, err error) {
				// All arms of a replication run next to each other, because they mostly have
				// the same jobs.
				r := &Replication{Configuration: arms[i%len(arms)], Rep: from + i/len(arms)}
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
		err := InOrder(ctx, len(arms)*(to-from), workers, begin, func(value float64) error {
			all[i%len(arms)] = append(all[i%len(arms)], value)
			i++
			return nil
		})
		return all, err
	}
}

// fingerprint identifies a search by its settings, the files that they read, the metric and
// the version of the program.
func (p *Prepared) fingerprint(metric string) (string, error) {
	sum := sha256.New()
	v := results.BuildVersion()
	fmt.Fprintln(sum, v.Version, v.Revision, metric)
	for _, path := range slices.Sorted(maps.Keys(p.Inputs)) {
		fmt.Fprintln(sum, path, p.Inputs[path])
	}
	if err := scenario.Write(sum, *p.Experiment); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// A sampled holds replications of the settings of a search.
type sampled struct {
	Of     string           `json:"of"`
	Values [][]report.Maybe `json:"values"`
}

// read loads the replications in text. They must be of the same search.
func (s *sampled) read(text []byte) error {
	if text == nil {
		return nil
	}
	var found struct {
		Of     string       `json:"of"`
		Values [][]*float64 `json:"values"`
	}
	if err := json.Unmarshal(text, &found); err != nil {
		return misuse.Errorf("%s: found what is no result of a search: %w", TuneKnown, err)
	}
	if found.Of != s.Of || len(found.Values) != len(s.Values) {
		return misuse.Errorf("%s: found replications of other settings, of another metric or by another version of bourse", TuneKnown)
	}
	for arm, all := range found.Values {
		for _, x := range all {
			value := report.Maybe(math.NaN())
			if x != nil {
				value = report.Maybe(*x)
			}
			s.Values[arm] = append(s.Values[arm], value)
		}
	}
	return nil
}

// keep adds the values that s does not have yet.
func (s *sampled) keep(values [][]float64) {
	for arm, all := range values {
		for _, x := range all[min(len(all), len(s.Values[arm])):] {
			s.Values[arm] = append(s.Values[arm], report.Maybe(x))
		}
		if s.Values[arm] == nil {
			s.Values[arm] = []report.Maybe{}
		}
	}
}

// before returns a sampler that reuses the values of s and calls next for the rest.
func (s *sampled) before(next tune.Sampler) tune.Sampler {
	return func(ctx context.Context, arms []int, from, to int) ([][]float64, error) {
		all := make([][]float64, len(arms))
		for i, arm := range arms {
			for _, x := range s.Values[arm][min(from, len(s.Values[arm])):min(to, len(s.Values[arm]))] {
				all[i] = append(all[i], float64(x))
			}
		}
		for i := range arms { // group arms that lack the same number
			start := from + len(all[i])
			if start == to {
				continue
			}
			var same, at []int
			for k := i; k < len(arms); k++ {
				if from+len(all[k]) == start {
					same, at = append(same, arms[k]), append(at, k)
				}
			}
			rest, err := next(ctx, same, start, to)
			if err != nil {
				return nil, err
			}
			for n, k := range at {
				all[k] = append(all[k], rest[n]...)
			}
		}
		return all, ctx.Err()
	}
}
