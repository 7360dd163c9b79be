package study

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"bourse/bank/whole"
	"bourse/experiments"
	"bourse/experiments/metrics"
	"bourse/experiments/misuse"
	"bourse/experiments/papers"
	"bourse/experiments/publication"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/workloadgen/config"
)

// Readings describes the open decisions of a scenario and the printed numbers.
type Readings struct {
	Name     string `yaml:"name"`
	Title    string `yaml:"title"`
	Scenario string `yaml:"scenario"` // name of a preset or scenario file
	Printed  string `yaml:"printed"`  // CSV table of printed numbers; if empty, the numbers in the paper of the preset

	Metrics  []string `yaml:"metrics"`  // metrics whose printed numbers are compared; if empty, all metrics
	Digits   int      `yaml:"digits"`   // number of printed decimals
	Repeated int      `yaml:"repeated"` // number of replications on which each printed number is based

	Seed         uint64  `yaml:"seed"`
	Replications int     `yaml:"replications"`
	Strength     int     `yaml:"strength"` // strength of the array: 2 or 3
	Most         int     `yaml:"most"`     // maximum number of readings of the array
	Confirm      confirm `yaml:"confirm"`

	Factors []factor `yaml:"factors"`

	root     *config.Node
	readings []reading
	numbers  []printed
	base     func(sets ...string) (scenario.Experiment, error)
}

// A confirm specifies how the closest readings are run again. They are run again with the same
// number of replications, because the closest of many readings may be close only by chance.
type confirm struct {
	Best int    `yaml:"best"`
	Seed uint64 `yaml:"seed"`
}

// A factor is a decision that the paper leaves open.
type factor struct {
	Name   string              `yaml:"name"`
	Path   config.Some[string] `yaml:"path"`   // scenario field that the decision sets; if there are several fields, all get the same value
	Metric config.Some[string] `yaml:"metric"` // metric of printed numbers, if the decision is about the measurement; may be a list
	Values []value             `yaml:"values"` // possible values; the first is the value in the scenario
}

// A value is one possible choice for a factor.
type value struct {
	Label string `yaml:"label"`
	Value any    `yaml:"value"`

	metrics []string // metrics to measure instead of the metrics of the factor
}

// ReadReadings reads a file of readings and all files named in it. Errors use name for the
// file. It prepares the scenario with each single change to a factor, and it reads the
// printed numbers.
func ReadReadings(name string, text []byte) (*Readings, error) {
	r, err := parseReadings(name, text)
	if err != nil {
		return nil, err
	}
	in := func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(filepath.Dir(name), path)
	}
	source := "preset " + r.Scenario
	data, preset := papers.Presets()[r.Scenario]
	if !preset {
		source = in(r.Scenario)
		if data, err = whole.Read(source, 1<<24); err != nil {
			return nil, r.blame(r.readings[0], fmt.Errorf("%w, and no preset of that name", err))
		}
	}
	r.base = func(sets ...string) (scenario.Experiment, error) {
		return scenario.Parse(source, data, experiments.Known(), sets...)
	}
	if r.Printed == "" {
		r.numbers = printedBy(r.Scenario)
	} else {
		path := in(r.Printed)
		text, err := whole.Read(path, 1<<24)
		if err != nil {
			return nil, misuse.Errorf("%s: printed: %w", name, err)
		}
		if r.numbers, err = readNumbers(path, text); err != nil {
			return nil, err
		}
	}
	if len(r.Metrics) > 0 {
		r.numbers = slices.DeleteFunc(r.numbers, func(n printed) bool { return !slices.Contains(r.Metrics, n.Metric) })
	}
	if len(r.numbers) == 0 {
		return nil, misuse.Errorf("%s: printed: found no number for the selected metrics, want a CSV table of numbers, which is required if the scenario is not a paper's preset", name)
	}
	return r, r.prepare()
}

// parseReadings reads a file of readings. Errors use source as the file's name. Errors also
// state the line and the field.
func parseReadings(source string, text []byte) (*Readings, error) {
	r := &Readings{
		Digits: 2, Repeated: 5, Seed: 1, Replications: 10, Strength: 3, Most: 1000,
		Confirm: confirm{Best: 10, Seed: 2},
	}
	var err error
	if r.root, err = config.Parse(source, text); err == nil {
		err = r.root.Fill("", r)
	}
	if err != nil {
		return nil, misuse.Of(err)
	}
	if err = r.check(); err == nil {
		err = r.design()
	}
	return r, err
}

var (
	nameOf = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9-]*$`)
	wordOf = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]*$`)
)

// check returns the first error in the file of r.
func (r *Readings) check() error {
	for _, n := range []struct {
		field     string
		x, lo, hi int
	}{
		{"digits", r.Digits, 0, 12}, {"repeated", r.Repeated, 1, 1e6}, {"replications", r.Replications, 2, 1e6},
		{"strength", r.Strength, 2, 3}, {"most", r.Most, 1, 1e5}, {"confirm.best", r.Confirm.Best, 1, 1e4},
	} {
		if n.x < n.lo || n.x > n.hi {
			return r.fail(n.field, "found %d, want %d to %d", n.x, n.lo, n.hi)
		}
	}
	switch {
	case !nameOf.MatchString(r.Name):
		return r.fail("name", "found %.40q, want letters, digits and dashes", r.Name)
	case r.Scenario == "":
		return r.fail("scenario", "found none, want a preset or a scenario file")
	case len(r.Factors) == 0:
		return r.fail("factors", "found none, want at least one")
	case r.Confirm.Seed == r.Seed:
		return r.fail("confirm.seed", "found %d, want a seed different from seed", r.Seed)
	}
	for i := range r.Factors {
		at, f := fmt.Sprintf("factors.%d", i), &r.Factors[i]
		switch {
		case !wordOf.MatchString(f.Name):
			return r.fail(at+".name", "found %.40q, want letters, digits, dashes and underscores", f.Name)
		case slices.ContainsFunc(r.Factors[:i], func(o factor) bool { return o.Name == f.Name }):
			return r.fail(at+".name", "found %s twice", f.Name)
		case (len(f.Path) > 0) == (len(f.Metric) > 0):
			return r.fail(at, "want exactly one of path (a field of the scenario) and metric")
		case len(f.Values) < 2:
			return r.fail(at+".values", "found %d values, want at least two", len(f.Values))
		}
		for _, p := range f.Path {
			if p == "" || strings.Contains(p, "=") {
				return r.fail(at+".path", "found %.40q, want a path such as base.market.payment", p)
			}
		}
		for j := range f.Values {
			at, x := fmt.Sprintf("%s.values.%d", at, j), &f.Values[j]
			if x.metrics = texts(x.Value); len(f.Metric) > 0 && len(x.metrics) != len(f.Metric) {
				return r.fail(at+".value", "found %v, want %d metrics", x.Value, len(f.Metric))
			}
			if x.Label == "" {
				x.Label = fmt.Sprint(x.Value)
			}
			if slices.ContainsFunc(f.Values[:j], func(o value) bool { return o.Label == x.Label }) {
				return r.fail(at+".label", "found %q twice", x.Label)
			}
		}
	}
	return nil
}

// texts returns a single text as a list, or the texts of a list.
func texts(value any) (all []string) {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	for _, x := range list {
		if s, ok := x.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// fail returns an error at a path in the file, such as factors.1.values.0. The error states
// the position of the closest enclosing value in the file.
func (r *Readings) fail(path, format string, args ...any) error {
	path, at, _ := r.root.Follow(path)
	return misuse.Of(at.At.Fail(path, format, args...))
}

// blame attributes an error to the factor that a reading changes. If the reading does not
// change exactly one factor, blame attributes the error to the scenario itself.
func (r *Readings) blame(of reading, err error) error {
	at := of.changed()
	if at < 0 {
		return r.fail("scenario", "%v", err)
	}
	return r.fail(fmt.Sprintf("factors.%d.values.%d", at, of.levels[at]), "%v", err)
}

// sets returns the scenario overrides of a reading, in the form path=value. It omits
// unchanged fields.
func (r *Readings) sets(of reading) (sets []string) {
	for i, f := range r.Factors {
		if of.levels[i] == 0 {
			continue
		}
		for _, p := range f.Path {
			sets = append(sets, p+"="+config.Of(f.Values[of.levels[i]].Value).Flow())
		}
	}
	return sets
}

// metric returns the metric that a reading measures instead of the printed metric.
func (r *Readings) metric(of reading, name string) string {
	for i, f := range r.Factors {
		if at := slices.Index(f.Metric, name); at >= 0 {
			return f.Values[of.levels[i]].metrics[at]
		}
	}
	return name
}

// measures returns all metrics that readings measure instead of the printed metric.
func (r *Readings) measures(name string) (all []string) {
	for _, f := range r.Factors {
		if at := slices.Index(f.Metric, name); at >= 0 {
			for _, x := range f.Values {
				all = append(all, x.metrics[at])
			}
			return all
		}
	}
	return []string{name}
}

// label returns the label of the value that a reading selects for a factor.
func (r *Readings) label(of reading, factor int) string {
	return r.Factors[factor].Values[of.levels[factor]].Label
}

// prepare prepares the unchanged scenario and the scenario with each single change. It
// checks that every printed number belongs to an existing run and metric.
func (r *Readings) prepare() error {
	for i, reading := range r.readings {
		if reading.changed() == -2 { // the reading only combines single changes
			continue
		}
		e, err := r.scenario(reading)
		if err == nil {
			_, err = experiments.Prepare(&e)
		}
		var wrong *config.Error
		if i > 0 && errors.As(err, &wrong) && wrong.Placed() {
			err = fmt.Errorf("%s: %s", wrong.Field, wrong.Problem)
		}
		if err != nil {
			return r.blame(reading, err)
		}
	}
	e, err := r.scenario(r.readings[0])
	if err != nil {
		return err
	}
	all, known := configurations(&e), metrics.Table()
	for i := range r.numbers {
		n := &r.numbers[i]
		at := slices.Index(all, n.Configuration)
		if at < 0 {
			return n.fail("configuration", "found %s, want a configuration of %s", n.Configuration, r.Scenario)
		}
		if !slices.Contains(labelsOf(e.Configurations[at].Admission), n.Admission) {
			return n.fail("admission", "found %s, want a policy of %s in %s", n.Admission, r.Scenario, n.Configuration)
		}
		for _, m := range r.measures(n.Metric) {
			if _, err := known.New(m, nil); err != nil {
				return n.fail("metric", "%v", err)
			}
		}
	}
	return nil
}

// scenario returns the scenario of a reading. It contains only the configurations that have
// printed numbers.
func (r *Readings) scenario(of reading) (e scenario.Experiment, err error) {
	if e, err = r.base(r.sets(of)...); err != nil {
		return e, err
	}
	x := e.Expanded()
	x.Sweep, x.Figure, x.Until, x.Alphas = nil, new(scenario.Figure), nil, x.Alphas[:1]
	for _, n := range r.numbers {
		x.Figure.Metrics = append(x.Figure.Metrics, r.measures(n.Metric)...)
	}
	x.Configurations = slices.DeleteFunc(slices.Clone(x.Configurations), func(c scenario.Configuration) bool {
		return !slices.ContainsFunc(r.numbers, func(n printed) bool { return n.Configuration == c.Name })
	})
	return x, nil
}

// Find runs all readings, runs the closest ones again, and reports how all of them compare
// with the printed numbers. It resumes an interrupted study.
func (r *Readings) Find(ctx context.Context, opts experiments.Options, to publication.Target) (d report.Document, err error) {
	first, kept, err := r.measure(ctx, opts, to, "first", r.readings, r.Seed)
	if err != nil {
		return d, err
	}
	defer kept.Close()
	f := r.compare(first)
	var near []reading
	for _, i := range f.rerun {
		near = append(near, r.readings[i])
	}
	again, rest, err := r.measure(ctx, opts, to, "again", near, r.Confirm.Seed)
	if err != nil {
		return d, err
	}
	f.confirm(again)
	return f.document(publication.Labels()), errors.Join(kept.Remove(), rest.Remove())
}

// A sample contains the measurements of a reading for each number, by replication. A value is
// NaN if it is undefined.
type sample [][]float64

// measure runs readings and stores their units in a subdirectory of to.Dir. Readings that
// result in the same scenario are run only once.
func (r *Readings) measure(ctx context.Context, opts experiments.Options, to publication.Target, part string, all []reading, seed uint64) ([]sample, *results.Units, error) {
	var e scenario.Experiment
	var what strings.Builder
	runs := make(map[string]int) // index of each run, by its overrides
	of := make([]int, len(all))
	for i, reading := range all {
		sets := r.sets(reading)
		key := strings.Join(sets, "\n")
		run, there := runs[key]
		if of[i] = run; there {
			continue
		}
		x, err := r.scenario(reading)
		if err != nil {
			return nil, nil, r.blame(reading, err)
		}
		run = len(runs)
		runs[key], of[i] = run, run
		if run == 0 {
			e = x
			e.Seed, e.Replications, e.Name, e.Configurations = seed, r.Replications, r.Name, nil
			whole := e
			whole.Configurations = x.Configurations
			if err := scenario.Write(&what, whole); err != nil {
				return nil, nil, err
			}
		}
		for _, c := range x.Configurations {
			c.Name = fmt.Sprintf("%d-%s", run, c.Name)
			e.Configurations = append(e.Configurations, c)
		}
		fmt.Fprintf(&what, "# %d: %s\n", run, strings.Join(sets, " "))
	}
	p, err := experiments.Prepare(&e)
	if err != nil {
		return nil, nil, err
	}
	to.Dir, to.Scenario = filepath.Join(to.Dir, part), what.String()
	s, units, err := publication.Keep(ctx, p, opts, to)
	if err != nil {
		return nil, nil, err
	}
	at := make(map[string]int) // configurations by name
	for i, name := range configurations(p.Experiment) {
		at[name] = i
	}
	samples := make([]sample, len(all))
	for i, reading := range all {
		for _, n := range r.numbers {
			var xs []float64
			c, ok := at[fmt.Sprintf("%d-%s", of[i], n.Configuration)]
			if k := slices.Index(labelsOf(p.Experiment.Configurations[c].Admission), n.Admission); ok && k >= 0 {
				xs = s.Values(c, k, r.metric(reading, n.Metric))
			}
			samples[i] = append(samples[i], xs)
		}
	}
	return samples, units, nil
}
