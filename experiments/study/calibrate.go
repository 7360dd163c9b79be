package study

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	"bourse/contracts/broker"
	"bourse/experiments"
	"bourse/experiments/misuse"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
)

// A Calibration specifies the parts of a scenario to calibrate.
type Calibration struct {
	Configurations []string // names of configurations; empty means all
	Less           string   // label of the policy with which the cost to other jobs is compared; may be empty
}

// Calibrate compares the promised and the realized success rates of the policies of e. It
// does so for every value of the policies' guarantees and of the other axes in e's sweep.
// At least one axis must be a policy's guarantee. Only policies with such an axis are run.
func Calibrate(ctx context.Context, e *scenario.Experiment, of Calibration, opts experiments.Options) (*Calibrated, error) {
	swept, err := guaranteesOf(e)
	if err != nil {
		return nil, err
	}
	x, tallies, err := swept.runs(e, of)
	if err != nil {
		return nil, err
	}
	ready, err := experiments.Prepare(x)
	if err != nil {
		return nil, err
	}
	type runOf struct {
		configuration, admission string
		rep                      int
	}
	var mu sync.Mutex
	watchers := make(map[runOf]*watcher)
	opts.Observe = func(configuration, admission string, rep int, parts *broker.Config) {
		w := &watcher{Policy: parts.Policy}
		parts.Policy = w
		mu.Lock()
		defer mu.Unlock()
		watchers[runOf{configuration, admission, rep}] = w
	}
	err = ready.Each(ctx, opts, func(r *experiments.Replication) error {
		c := &x.Configurations[r.Configuration]
		for k, run := range r.Runs {
			at := runOf{c.Name, c.Admission[k].Label, r.Rep}
			mu.Lock()
			w := watchers[at]
			delete(watchers, at)
			mu.Unlock()
			tallies[r.Configuration][k].add(w, &run.Outcome)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var points []Point
	for i := range x.Configurations {
		c := &x.Configurations[i]
		var less *tally
		if k := slices.Index(labelsOf(c.Admission), of.Less); k >= 0 {
			less = tallies[i][k]
		}
		for k, t := range tallies[i] {
			points = append(points, t.point(Line{swept.besides(e, c.Name), c.Admission[k].Label, c.Market.Forecaster.Name}, less))
		}
	}
	var notes []string
	if len(ready.Alike()) > 0 {
		notes = []string{"Every replication has the same jobs on the same hosts, so the replications are not a random sample, and intervals are meaningless."}
	}
	return calibrated(e.Name, e.Replications, points, of.Less, notes), nil
}

// A guarantee is an option of a policy that the sweep varies.
type guarantee struct {
	path   string
	policy string   // label or index
	option []string // path of the option in the policy's settings
	axis   int
}

type guarantees []guarantee

// guaranteesOf returns the guarantees varied by the sweep of e.
func guaranteesOf(e *scenario.Experiment) (all guarantees, err error) {
	for i, a := range e.Sweep {
		for _, path := range a.Fields() {
			s := strings.Split(path, ".")
			if len(s) > 2 && s[0] == "admission" && s[len(s)-1] == "guarantee" {
				all = append(all, guarantee{path, s[1], s[2:], i})
			}
		}
	}
	if all == nil {
		return nil, misuse.Errorf("sweep: found no axis for the guarantee of a policy, want one, such as admission.sac.guarantee=0.5..0.95/0.05")
	}
	return all, nil
}

// runs returns the part of e to run, with one tally for each policy of each configuration.
func (all guarantees) runs(e *scenario.Experiment, of Calibration) (*scenario.Experiment, [][]*tally, error) {
	names := configurations(e)
	for _, name := range of.Configurations {
		if !slices.Contains(names, name) {
			return nil, nil, misuse.Errorf("configuration: %s", scenario.Unknown(name, names))
		}
	}
	x := e.Expanded()
	points := x.Configurations
	x.Sweep, x.Configurations = nil, nil
	var tallies [][]*tally
	for _, c := range points {
		if name, _ := results.Spot(c.Name); len(of.Configurations) > 0 && !slices.Contains(of.Configurations, name) {
			continue
		}
		var kept []scenario.Choice
		var own []*tally
		for k, a := range c.Admission {
			i := slices.IndexFunc(all, func(g guarantee) bool { return g.policy == a.Label || g.policy == strconv.Itoa(k) })
			if i < 0 {
				continue
			}
			g, err := all[i].of(a)
			if err != nil {
				return nil, nil, err
			}
			kept, own = append(kept, a), append(own, newTally(g))
		}
		if labels := labelsOf(kept); of.Less != "" && !slices.Contains(labels, of.Less) {
			return nil, nil, misuse.Errorf("less: %s", scenario.Unknown(of.Less, labels))
		}
		c.Admission = kept
		x.Configurations, tallies = append(x.Configurations, c), append(tallies, own)
	}
	return &x, tallies, nil
}

// of returns the probability promised by policy a.
func (g *guarantee) of(a scenario.Choice) (float64, error) {
	var value any = a.Options()
	for _, name := range g.option {
		options, _ := value.(map[string]any)
		value = options[name]
	}
	if x, ok := value.(float64); ok && x > 0 && x < 1 {
		return x, nil
	}
	return 0, misuse.Errorf("%s: found %v, want a number more than 0 and less than 1", g.path, value)
}

// besides returns the name of a configuration of the sweep without the values of guarantees
// and forecasters.
func (all guarantees) besides(e *scenario.Experiment, name string) string {
	name, values := results.Spot(name)
	var left []string
	for i, v := range values {
		if e.Sweep[i].Path != "market.forecaster" && !slices.ContainsFunc(all, func(g guarantee) bool { return g.axis == i }) {
			left = append(left, v)
		}
	}
	if left == nil {
		return name
	}
	return name + "@" + strings.Join(left, ",")
}
