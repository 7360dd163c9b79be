package experiments

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"bourse/bank/whole"
	"bourse/experiments/metrics"
	"bourse/experiments/misuse"
	"bourse/experiments/papers"
	"bourse/experiments/readings"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/workloadgen/config"
)

// Readings hold a file of variants of a paper, with the scenario and the printed numbers that
// it names.
type Readings struct {
	*readings.File
	all     []readings.Reading
	numbers []readings.Number
	base    func(sets ...string) (scenario.Experiment, error)
}

// ReadReadings reads a file of variants, called name in errors, and everything that it names.
// It prepares the scenario with each change of a single factor, and reads the printed numbers.
func ReadReadings(name string, text []byte) (*Readings, error) {
	f, err := readings.Parse(name, text)
	if err != nil {
		return nil, err
	}
	r := &Readings{File: f}
	if r.all, err = f.Design(); err != nil {
		return nil, err
	}
	in := func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(filepath.Dir(name), path)
	}
	source := "preset " + f.Scenario
	data, preset := papers.Presets()[f.Scenario]
	if !preset {
		source = in(f.Scenario)
		if data, err = whole.Read(source, 1<<24); err != nil {
			return nil, f.Blame(r.all[0], fmt.Errorf("%w, and no preset of that name", err))
		}
	}
	r.base = func(sets ...string) (scenario.Experiment, error) {
		return scenario.Parse(source, data, Known(), sets...)
	}
	if f.Printed == "" {
		r.numbers = printed(f.Scenario)
	} else {
		path := in(f.Printed)
		text, err := whole.Read(path, 1<<24)
		if err != nil {
			return nil, misuse.Of(fmt.Errorf("%s: printed: %w", name, err))
		}
		if r.numbers, err = readings.ReadNumbers(path, text); err != nil {
			return nil, err
		}
	}
	if len(f.Metrics) > 0 {
		r.numbers = slices.DeleteFunc(r.numbers, func(n readings.Number) bool { return !slices.Contains(f.Metrics, n.Metric) })
	}
	if len(r.numbers) == 0 {
		return nil, misuse.Errorf("%s: printed: found no number of the metrics wanted; a scenario that is no paper's preset wants a table of numbers (CSV)", name)
	}
	return r, r.check()
}

// printed returns the numbers that a preset's paper prints.
func printed(preset string) (all []readings.Number) {
	paper := papers.Of(preset)
	for _, p := range paper.Printed {
		for _, c := range p.Configuration {
			for _, a := range p.Admission {
				for _, m := range p.Metric {
					n := readings.Number{Case: readings.Case{Configuration: c, Admission: a, Metric: m}, Lo: p.Value[0].Float64(), Hi: p.Value[len(p.Value)-1].Float64(), Source: p.Source}
					if e, ok := paper.Error(c, a, m); ok {
						n.Error = &e
					}
					all = append(all, n)
				}
			}
		}
	}
	return all
}

// check prepares the scenario unchanged and with each single change, and checks that every
// printed number refers to an existing run and metric.
func (r *Readings) check() error {
	alone := 1 // the scenario itself, and then each change of it
	for _, v := range r.Factors {
		alone += len(v.Values) - 1
	}
	for i, reading := range r.all[:alone] { // the other variants only combine these changes
		e, err := r.read(reading)
		if err == nil {
			_, err = Prepare(&e)
		}
		var wrong *config.Error
		if i > 0 && errors.As(err, &wrong) && wrong.Placed() {
			err = fmt.Errorf("%s: %s", wrong.Field, wrong.Problem)
		}
		if err != nil {
			return r.Blame(reading, err)
		}
	}
	e, err := r.read(r.all[0])
	if err != nil {
		return err
	}
	known := metrics.Table()
	for i := range r.numbers {
		n := &r.numbers[i]
		at := slices.IndexFunc(e.Configurations, func(c scenario.Configuration) bool { return c.Name == n.Configuration })
		if at < 0 {
			return n.Fail("configuration", "found %s, which %s has not", n.Configuration, r.Scenario)
		}
		if !slices.ContainsFunc(e.Configurations[at].Admission, func(c scenario.Choice) bool { return c.Label == n.Admission }) {
			return n.Fail("admission", "found %s, which %s has not in %s", n.Admission, r.Scenario, n.Configuration)
		}
		for _, m := range r.Measures(n.Metric) {
			if _, err := known.New(m, nil); err != nil {
				return n.Fail("metric", "%v", err)
			}
		}
	}
	return nil
}

// read returns the scenario of a variant, with only the configurations for which there are
// numbers.
func (r *Readings) read(reading readings.Reading) (e scenario.Experiment, err error) {
	if e, err = r.base(r.Sets(reading)...); err != nil {
		return e, err
	}
	x := e.Expanded()
	x.Sweep, x.Figure, x.Until, x.Alphas = nil, &scenario.Figure{Metrics: r.wanted()}, nil, x.Alphas[:1]
	x.Configurations = slices.DeleteFunc(slices.Clone(x.Configurations), func(c scenario.Configuration) bool {
		return !slices.ContainsFunc(r.numbers, func(n readings.Number) bool { return n.Configuration == c.Name })
	})
	return x, nil
}

// wanted returns every metric that is measured.
func (r *Readings) wanted() (all []string) {
	for _, n := range r.numbers {
		all = append(all, r.Measures(n.Metric)...)
	}
	return all
}

// Find runs all variants, runs the nearest ones again, and reports how they compare with the
// printed numbers. It resumes a study that was interrupted.
func (r *Readings) Find(ctx context.Context, opts Options, to Publication) (d report.Document, err error) {
	dir := to.Dir
	first, kept, err := r.measure(ctx, opts, to, filepath.Join(dir, "first"), r.all, r.Seed, r.Replications)
	if err != nil {
		return d, err
	}
	defer kept.Close()
	found := r.Compare(r.all, r.numbers, first)
	var near []readings.Reading
	for _, i := range found.Nearest() {
		near = append(near, r.all[i])
	}
	again, rest, err := r.measure(ctx, opts, to, filepath.Join(dir, "again"), near, r.File.Confirm.Seed, r.Replications)
	if err != nil {
		return d, err
	}
	found.Confirm(again)
	return found.Document(Labels()), errors.Join(kept.Remove(), rest.Remove())
}

// measure runs variants and stores their units next to dir. Variants that give the same
// scenario are run once.
func (r *Readings) measure(ctx context.Context, opts Options, to Publication, dir string, all []readings.Reading, seed uint64, replications int) ([]readings.Measured, *results.Units, error) {
	var e scenario.Experiment
	var what strings.Builder
	runs := make(map[string]int) // by overrides
	own := 0                     // configurations per run
	of := make([]int, len(all))
	for i, reading := range all {
		sets := r.Sets(reading)
		key := strings.Join(sets, "\n")
		run, there := runs[key]
		if of[i] = run; there {
			continue
		}
		x, err := r.read(reading)
		if err != nil {
			return nil, nil, r.Blame(reading, err)
		}
		run = len(runs)
		runs[key], of[i], own = run, run, len(x.Configurations)
		configurations := e.Configurations
		if run == 0 {
			e = x
			e.Seed, e.Replications, e.Name = seed, replications, r.Name
			if err := scenario.Write(&what, e); err != nil {
				return nil, nil, err
			}
			configurations = nil
		}
		for _, c := range x.Configurations {
			c.Name = fmt.Sprintf("%d-%s", run, c.Name)
			configurations = append(configurations, c)
		}
		e.Configurations = configurations
		fmt.Fprintf(&what, "# %d: %s\n", run, strings.Join(sets, " "))
	}
	ready, err := Prepare(&e)
	if err != nil {
		return nil, nil, err
	}
	to.Scenario, to.Tables, to.Bare = what.String(), results.None, true
	if to.Dir, err = results.Unfinished(dir); err != nil {
		return nil, nil, err
	}
	s, units, err := ready.keep(ctx, opts, to)
	if err != nil {
		return nil, nil, err
	}
	by := r.measured(s, own)
	measured := make([]readings.Measured, len(all))
	for i, run := range of {
		measured[i] = by[run]
	}
	return measured, units, nil
}

// measured returns the measured values to compare with the printed numbers, by run. Each run
// has own configurations.
func (r *Readings) measured(s *Study, own int) []readings.Measured {
	wanted := r.wanted()
	all := make([]readings.Measured, len(s.cells)/own)
	s.each(func(configuration, policy int, name, label string) {
		run := configuration / own
		_, name, _ = strings.Cut(name, "-")
		if all[run] == nil {
			all[run] = make(readings.Measured)
		}
		for m, values := range s.cells[configuration][policy].values {
			if metric := s.Metrics[m].Name; slices.Contains(wanted, metric) {
				all[run][readings.Case{Configuration: name, Admission: label, Metric: metric}] = values
			}
		}
	})
	return all
}

// keep runs the units of p that are missing in to.Dir, and returns the measurements of all
// units.
func (p *Prepared) keep(ctx context.Context, opts Options, to Publication) (s *Study, units *results.Units, err error) {
	if to.Fresh {
		if err := results.Forget(to.Dir); err != nil {
			return nil, nil, err
		}
	}
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
