package experiments

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"bourse/experiments/metrics"
	"bourse/experiments/misuse"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/experiments/tune"
)

// A TuneAsk says what the best setting of a scenario is to be found by.
type TuneAsk struct {
	Metric        string
	Least         bool     // the smallest is the best, else the largest
	Configuration string   // may be empty where there is one
	Policies      []string // labels of those that race; none: those of which an axis is an option, or else all
	Budget        int      // replications of all settings together; 0 is 200 for each
	Within        float64  // regret that does not matter
	Smooth        bool     // the metric has one peak along the axis, which is one of numbers

	// Known, unless nil, are the replications of an earlier search on the same settings, as
	// [Tuned.Known] returned them: they are not run again.
	Known []byte
}

// perSetting is how many replications there are for each setting where nothing is said. A
// confidence sequence of values without bounds begins after some 40.
const perSetting = 200

// fewest is how many a budget has for each setting at least.
const fewest = 10

// Tuned is what a search for the best setting has found.
type Tuned struct {
	*tune.Report
	Known []byte // its replications, for one that goes on
}

// Tune finds the best setting of a configuration of e: of the points of its sweep, under each
// of its policies. All settings are run on the same chance, replication by replication, where
// that decides: see [tune.Race]. What is found does not depend on the number of workers. If
// ctx ends, it returns what is known by then.
func Tune(ctx context.Context, e *scenario.Experiment, ask TuneAsk, opts Options) (*Tuned, error) {
	metric, err := metrics.Table().New(ask.Metric, nil)
	if err != nil {
		return nil, misuse.Of(fmt.Errorf("metric: %w", err))
	}
	arms, settings, err := contenders(e, &ask)
	if err != nil {
		return nil, err
	}
	if ask.Smooth && !smooth(e, settings) {
		return nil, misuse.Errorf("smooth: found %s, want one axis of numbers that go up, and one policy", said(e, settings))
	}
	if ask.Budget == 0 {
		ask.Budget = perSetting * len(settings)
	}
	if least := fewest * len(settings); ask.Budget < least {
		return nil, misuse.Errorf("budget: found %d, want %d at least: %d for each of %d settings", ask.Budget, least, fewest, len(settings))
	}
	if !(ask.Within >= 0) || math.IsInf(ask.Within, 0) {
		return nil, misuse.Errorf("within: found %v, want 0 or more", ask.Within)
	}
	p, err := Prepare(arms)
	if err != nil {
		return nil, err
	}
	if len(p.alike) > 0 {
		return nil, misuse.Errorf("configuration %s: every replication has the same jobs on the same hosts, and one tells all: want bourse run with a sweep, or the workload model resample, which draws jobs from a log", p.alike[0])
	}
	of, err := p.fingerprint(ask.Metric)
	if err != nil {
		return nil, err
	}
	known := &sampled{Of: of, Values: make([][]report.Maybe, len(settings))}
	if err := known.read(ask.Known); err != nil {
		return nil, err
	}
	lo, hi := metric.Bound.Ends()
	race := tune.Ask{Arms: len(settings), Least: ask.Least, Lo: lo, Hi: hi, Budget: ask.Budget, Within: ask.Within, Smooth: ask.Smooth, Seed: e.Seed}
	progress := func(spent, _ int) {
		if opts.Progress != nil {
			opts.Progress(spent, ask.Budget)
		}
	}
	found, err := tune.Race(ctx, race, known.before(p.sampler(metric, opts)), progress)
	if none := new(tune.NoValueError); errors.As(err, &none) {
		s := settings[none.Arm]
		return nil, misuse.Errorf("metric: %s is undefined under %s in each of %d replications", ask.Metric, strings.Join(append([]string{s.Policy}, s.At...), " "), none.N)
	}
	if err != nil {
		return nil, err
	}
	goal := tune.Goal{
		Scenario: e.Name, Configuration: ask.Configuration, Metric: ask.Metric, Least: ask.Least,
		Smooth: ask.Smooth, Budget: ask.Budget, Within: ask.Within,
	}
	for _, a := range e.Sweep {
		goal.Over = append(goal.Over, a.Name())
	}
	known.keep(found.Values)
	text, err := json.Marshal(known)
	return &Tuned{tune.NewReport(goal, settings, lo, hi, found), append(text, '\n')}, err
}

// Document returns what t says, with its replications beside.
func (t *Tuned) Document() report.Document {
	d := t.Report.Document()
	d.Data = append(d.Data, report.File{Name: TuneKnown, Data: t.Known})
	return d
}

// TuneKnown is the name of the file with the replications of a search.
const TuneKnown = "replications.json"

// contenders returns an experiment whose configurations are the settings of the one that is
// asked for, each under one policy, and what they are called. A policy is there once for all
// points that differ in options of others.
func contenders(e *scenario.Experiment, ask *TuneAsk) (*scenario.Experiment, []tune.Setting, error) {
	var names []string
	for i := range e.Configurations {
		names = append(names, e.Configurations[i].Name)
	}
	if ask.Configuration == "" && len(names) == 1 {
		ask.Configuration = names[0]
	}
	which := slices.Index(names, ask.Configuration)
	if which < 0 {
		return nil, nil, misuse.Errorf("configuration: found %q, %s", ask.Configuration, scenario.OneOf(ask.Configuration, names))
	}
	x := e.Expanded()
	points := x.Configurations[which*len(x.Configurations)/len(names) : (which+1)*len(x.Configurations)/len(names)]
	racing, err := racers(e, points[0].Admission, ask.Policies)
	if err != nil {
		return nil, nil, err
	}
	x.Sweep, x.Until, x.Replications, x.Configurations = nil, nil, 2, nil // two tell whether all are alike
	x.Figure = &scenario.Figure{Metrics: []string{ask.Metric}}
	var settings []tune.Setting
	for _, k := range racing {
		seen := make(map[string]bool)
		for n := range points {
			at := along(e.Sweep, n)
			for i, a := range e.Sweep {
				if concerns := slices.ContainsFunc(a.Fields(), func(path string) bool { return touches(path, points[0].Admission, k) }); !concerns {
					at[i] = ""
				}
			}
			if key := strings.Join(at, ","); !seen[key] {
				seen[key] = true
				c := points[n]
				c.Admission = c.Admission[k : k+1]
				x.Configurations = append(x.Configurations, c)
				settings = append(settings, tune.Setting{Policy: c.Admission[0].Label, At: at})
			}
		}
	}
	return &x, settings, nil
}

// along returns where the point of that number is on each axis, of which the first is the
// slowest.
func along(axes []scenario.Axis, n int) []string {
	at := make([]string, len(axes))
	for i := len(axes) - 1; i >= 0; i-- {
		all := axes[i].Values
		at[i] = string(all[n%len(all)])
		n /= len(all)
	}
	return at
}

// racers returns which policies race: those with these labels; or without any those of which
// an axis is an option, or else all.
func racers(e *scenario.Experiment, all []scenario.Choice, labels []string) (racing []int, err error) {
	var names []string
	for k := range all {
		names = append(names, all[k].Label)
		named := slices.ContainsFunc(e.Sweep, func(a scenario.Axis) bool {
			return slices.ContainsFunc(a.Fields(), func(path string) bool { return strings.HasPrefix(path, "admission.") && touches(path, all, k) })
		})
		if slices.Contains(labels, all[k].Label) || labels == nil && named {
			racing = append(racing, k)
		}
	}
	for _, l := range labels {
		if !slices.Contains(names, l) {
			return nil, misuse.Errorf("policies: found %q, %s", l, scenario.OneOf(l, names))
		}
	}
	if racing == nil {
		for k := range all {
			racing = append(racing, k)
		}
	}
	return racing, nil
}

// touches reports whether the field at path changes what policy k of all does.
func touches(path string, all []scenario.Choice, k int) bool {
	rest, own := strings.CutPrefix(path, "admission.")
	if !own {
		return true
	}
	name, _, _ := strings.Cut(rest, ".")
	if i, err := strconv.Atoi(name); err == nil {
		return i == k
	}
	return name == all[k].Label
}

// smooth reports whether the settings lie along one axis of numbers that go up.
func smooth(e *scenario.Experiment, settings []tune.Setting) bool {
	if len(e.Sweep) != 1 || len(settings) != len(e.Sweep[0].Values) {
		return false
	}
	last := math.Inf(-1)
	for _, v := range e.Sweep[0].Values {
		x, err := strconv.ParseFloat(string(v), 64)
		if err != nil || x <= last {
			return false
		}
		last = x
	}
	return true
}

// said says what there is to be searched.
func said(e *scenario.Experiment, settings []tune.Setting) string {
	policies := make(map[string]bool)
	for _, s := range settings {
		policies[s.Policy] = true
	}
	return fmt.Sprintf("%d of policies and %d of axes", len(policies), len(e.Sweep))
}

// sampler returns what runs replications of the configurations of p and measures them.
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
				// All arms of a replication come together: they have the same jobs, mostly.
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
		err := inOrder(ctx, len(arms)*(to-from), workers, begin, func(value float64) error {
			all[i%len(arms)] = append(all[i%len(arms)], value)
			i++
			return nil
		})
		return all, err
	}
}

// fingerprint says what a search is of: settings, files that they read, metric and program.
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

// Sampled are replications of the settings of a search.
type sampled struct {
	Of     string           `json:"of"`
	Values [][]report.Maybe `json:"values"`
}

// read takes those of text, if they are of the same search.
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

// keep enters what has been found beyond it.
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

// before returns a sampler that takes what s has and asks next for the rest.
func (s *sampled) before(next tune.Sampler) tune.Sampler {
	return func(ctx context.Context, arms []int, from, to int) ([][]float64, error) {
		all := make([][]float64, len(arms))
		for i, arm := range arms {
			for _, x := range s.Values[arm][min(from, len(s.Values[arm])):min(to, len(s.Values[arm]))] {
				all[i] = append(all[i], float64(x))
			}
		}
		for i := range arms { // those that lack as many go together
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
