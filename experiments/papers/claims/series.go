package claims

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"bourse/experiments/results"
)

// Results contains the results of one experiment for the metrics used by claims. It needs eight
// bytes per metric, point, policy and replication.
type Results struct {
	Experiment string
	Axes       []string              // axes of the sweep, with the names that claims use
	Ends       map[string][2]float64 // bounds of the metrics that have bounds

	// Apart describes how the experiment differs from the paper's experiment. It is empty if
	// there is no difference.
	Apart string

	replications int
	points       map[string][]string // points of each configuration, in order
	found        map[[2]string]bool  // metrics and policies that each configuration has
	values       map[series][]float64
	trials       map[series]int // numbers of trials over all replications; -1 if the number in any replication is unknown
}

// A series is a metric of a policy at a point, by replication. A value is NaN if the metric is
// undefined.
type series struct{ metric, policy, point string }

// Add enters a row.
func (r *Results) Add(row results.Metric) {
	if r.values == nil {
		r.points, r.values, r.trials, r.found = make(map[string][]string), make(map[series][]float64), make(map[series]int), make(map[[2]string]bool)
	}
	k := series{row.Metric, row.Admission, row.Configuration}
	xs, ok := r.values[k]
	if !ok {
		name, _ := results.Spot(row.Configuration)
		if row.Configuration = strings.Clone(row.Configuration); !slices.Contains(r.points[name], row.Configuration) {
			r.points[strings.Clone(name)] = append(r.points[name], row.Configuration)
		}
		k = series{strings.Clone(row.Metric), strings.Clone(row.Admission), row.Configuration}
		name = strings.Clone(name)
		r.found[[2]string{name, k.metric}], r.found[[2]string{name, k.policy}] = true, true
	}
	for len(xs) <= row.Replication {
		xs = append(xs, math.NaN())
	}
	if row.Value != nil {
		xs[row.Replication] = *row.Value
		switch {
		case row.Trials == nil:
			r.trials[k] = -1
		case r.trials[k] >= 0:
			r.trials[k] += *row.Trials
		}
	}
	r.values[k] = xs
	r.replications = max(r.replications, len(xs))
}

// varies reports whether the results of the experiment are random, which means that some
// metric differs between replications.
func (r *Results) varies() bool {
	for _, xs := range r.values {
		for _, x := range xs {
			if x != xs[0] && !(math.IsNaN(x) && math.IsNaN(xs[0])) {
				return true
			}
		}
	}
	return r.replications < 2
}

// of returns the values of a metric of a policy at a point in every replication.
func (r *Results) of(metric, policy, point string) []float64 {
	xs := slices.Clone(r.values[series{metric, policy, point}])
	for len(xs) < r.replications {
		xs = append(xs, math.NaN())
	}
	return xs
}

// trialsOf returns the total number of trials of a policy's metric at the given points, or
// 0 if it is unknown.
func (r *Results) trialsOf(metric, policy string, points []string) (n int) {
	for _, p := range points {
		trials := r.trials[series{metric, policy, p}]
		if trials < 0 {
			return 0
		}
		n += trials
	}
	return n
}

// in returns the results of an experiment. It returns an error if the experiment differs from
// the paper's experiment.
func in(all []*Results, experiment string) (*Results, error) {
	i := slices.IndexFunc(all, func(r *Results) bool { return r.Experiment == experiment })
	switch {
	case i < 0:
		return nil, fmt.Errorf("no results of %s", experiment)
	case all[i].Apart != "":
		return nil, fmt.Errorf("%s is not the paper's experiment: %s", experiment, all[i].Apart)
	}
	return all[i], nil
}

// coordinate returns the position of a point on an axis, or NaN if the value is not a
// number.
func coordinate(point string, axes []string, axis string) float64 {
	_, values := results.Spot(point)
	i := slices.Index(axes, axis)
	if i < 0 || i >= len(values) {
		return math.NaN()
	}
	x, err := strconv.ParseFloat(values[i], 64)
	if err != nil {
		return math.NaN()
	}
	return x
}
