// Package publication writes the results of experiments. It runs the missing units, joins
// their rows to tables, and adds figures, notes and a page. It also reads existing results
// for tables, plots and comparisons, and recomputes results for an audit.
//
// The package is independent of how a run is executed.
package publication

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"bourse/bank"
	"bourse/bank/store"
	"bourse/experiments"
	"bourse/experiments/papers"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/scenario"

	"golang.org/x/sync/errgroup"
)

// A Target specifies where results are written and which metadata are stored with them.
type Target struct {
	Dir      string
	Ledgers  bool           // whether to store the ledger of every replication; if not, only the ledger of the first replication is stored, see large
	Bare     bool           // whether to store no ledgers
	Scenario string         // text of the scenario as it is run
	Command  []string       // command that repeats the run
	Source   File           // scenario file, if the scenario came from a file
	Notes    []string       // additional notes for readers
	Elapsed  func() float64 // seconds since the start

	Tables results.Tables

	// Found, if not nil, is called with the number of replications that are reused from an
	// earlier run.
	Found func(done, total int)
	Fresh bool // whether not to reuse units of older results

	Shard, Of int // selects every Of-th unit, starting with unit Shard

	// Fatal, if not nil, is called once if a ledger could not be written. It must not return.
	// If it is nil, the default of package store applies.
	Fatal func(error)
}

// A File is the path and the hash of a file that was read.
type File struct{ Path, SHA256 string }

// Publish runs the experiment p and writes a results directory. The output depends only on
// the experiment, except for the wall time and the versions in the manifest. If Publish
// fails or is cancelled, it stores the completed work next to the directory. The next
// Publish of the same experiment continues from there.
func Publish(ctx context.Context, p *experiments.Prepared, opts experiments.Options, to Target) (s *Report, err error) {
	dir, err := results.Unfinished(to.Dir)
	if err != nil {
		return nil, err
	}
	w, err := results.Create(to.Dir, to.Tables, experiments.Axes(p.Experiment)) // fails early if results cannot be written to to.Dir
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			w.Abort()
		}
	}()
	defer (&experiments.Panic{Scenario: p.Experiment.Name, Replication: -1, Seed: p.Experiment.Seed}).Recovered(&err)
	units, err := results.OpenUnits(dir, planOf(p, &to), false)
	if err != nil {
		return nil, err
	}
	defer units.Leave()
	from := []results.Source{units}
	if !to.Fresh {
		if old := results.ReadWhole(to.Dir, &units.Plan); old != nil {
			from = append(from, old)
		}
	}
	if s, err = publish(ctx, p, opts, to, w, units, from); err != nil {
		return nil, err
	}
	return s, units.Remove()
}

// publish runs the units that none of the sources in from contains, and writes all units to w.
func publish(ctx context.Context, p *experiments.Prepared, opts experiments.Options, to Target, w *results.Writer, units *results.Units, from []results.Source) (s *Report, err error) {
	e := p.Experiment
	if e.Until != nil { // the number of replications is known only at the end
		e, err = enough(ctx, p, opts, &to, units, from)
	} else {
		err = find(ctx, p, opts, &to, units, p.Units(), from...)
	}
	if err != nil {
		return nil, err
	}
	at, err := where(from)
	if err != nil {
		return nil, err
	}
	return join(w, e, &units.Plan, at, to)
}

// Replaces returns a [*results.OtherError] if Publish would replace results of another
// scenario in to.Dir.
func Replaces(p *experiments.Prepared, to *Target) error {
	d, err := results.Open(to.Dir)
	if err != nil {
		return nil // [results.Create] handles this case
	}
	if differs, ok := apart(d.Manifest.Scenario, to.Scenario, "replications", "until"); ok && differs == nil {
		return nil
	}
	want := planOf(p, to)
	found := want
	found.Scenario, found.Command = d.Manifest.Scenario, d.Manifest.Command
	return &results.OtherError{Dir: to.Dir, Found: found, Want: want, Whole: true}
}

// Shard runs every to.Of-th unit of the experiment p, starting with unit to.Shard. It
// stores the units in to.Dir for [Merge].
func Shard(ctx context.Context, p *experiments.Prepared, opts experiments.Options, to Target) error {
	units, err := results.OpenUnits(to.Dir, planOf(p, &to), true)
	if err != nil {
		return err
	}
	var mine []experiments.Unit
	for i, u := range p.Units() {
		if i%to.Of == to.Shard {
			mine = append(mine, u)
		}
	}
	defer units.Close()
	return find(ctx, p, opts, &to, units, mine, units)
}

// Merge writes the results directory of an experiment from the units in from. The files have
// the same bytes as the files that Publish writes, except for the wall time in the manifest.
// If units are missing, the error is a [*HolesError].
func Merge(e *scenario.Experiment, from []*results.Units, to Target) (s *Report, err error) {
	x := e.Expanded()
	w, err := results.Create(to.Dir, to.Tables, experiments.Axes(e))
	if err != nil {
		return nil, err
	}
	sources := make([]results.Source, len(from))
	for i, u := range from {
		sources[i] = u
	}
	plan := &from[0].Plan
	at, err := where(sources)
	if err == nil {
		err = at.whole(plan)
	}
	if err == nil {
		s, err = join(w, &x, plan, at, to)
	}
	if err != nil {
		w.Abort()
	}
	return s, err
}

// A HolesError lists the units that a merge did not find.
type HolesError struct {
	Missing []string
	Of      int
}

// Error lists the missing units and states their number.
func (e *HolesError) Error() string {
	return fmt.Sprintf("%d of %d units are missing: %s", len(e.Missing), e.Of, strings.Join(e.Missing, ", "))
}

// join writes the units in plan, each from its source in at, to w.
func join(w *results.Writer, e *scenario.Experiment, plan *results.Plan, at places, to Target) (*Report, error) {
	s := &Report{Study: experiments.NewStudy(e)}
	heads := make(map[string]string)
	shown := newShown(s.Experiment)
	err := gather(s.Study, plan, at, func(of experiments.Unit, unit *results.Unit, path string) error {
		maps.Copy(heads, unit.Ledgers)
		return errors.Join(shown.take(of, unit), w.Unit(of.Name(), unit, path), sealed(w, unit))
	})
	if err != nil {
		return nil, err
	}
	if err := w.Indexed(*plan); err != nil {
		return nil, err
	}
	inputs := maps.Clone(plan.Inputs)
	maps.Copy(inputs, plan.Source)
	to.Command, s.notes = plan.Command, slices.Concat(s.told(), to.Notes, plan.Notes)
	if err := errors.Join(w.Summary(s.SummaryRows()), w.Curve(s.CurveRows())); err != nil {
		return nil, err
	}
	if err := s.pictures(w, to, journals(heads), shown); err != nil {
		return nil, err
	}
	return s, w.Close(results.Manifest{
		Command: plan.Command, Scenario: to.Scenario, Seed: e.Seed, Replications: e.Replications,
		WallSeconds: to.Elapsed(), Inputs: inputs, Ledgers: heads, Alike: plan.Alike,
		Claims: papers.Registered(s.claims()),
	})
}

// sealed passes the hashes of the ledgers' files to w. The ledgers of unit already contain
// these hashes, so w need not compute them.
func sealed(w *results.Writer, unit *results.Unit) error {
	for ledger := range unit.Ledgers {
		dir, err := w.Path(ledger)
		if err != nil {
			return err
		}
		files, err := store.Files(dir, store.Options{})
		if err != nil {
			return err
		}
		for _, f := range files {
			w.Known(ledger+"/"+f.Name, results.Output{Size: f.Size, SHA256: f.SHA256})
		}
	}
	return nil
}

// gather adds the units in plan, each from its source in at, to s. It then passes the unit to
// take, with the path of the source.
func gather(s *experiments.Study, plan *results.Plan, at places, take func(of experiments.Unit, unit *results.Unit, path string) error) error {
	s.Alike = plan.Alike
	for _, name := range plan.Units {
		from := at[name]
		unit, err := from.Read(name)
		if err != nil {
			return err
		}
		of, err := experiments.ParseUnit(name)
		if err != nil {
			return err
		}
		if err := s.Check(of, unit.Values); err != nil {
			return fmt.Errorf("%s, unit %s: %w", from.Path(), name, err)
		}
		s.Add(of.Configuration, unit.Values)
		if err := take(of, unit, from.Path()); err != nil {
			return err
		}
	}
	return nil
}

// Difference describes the first field in which two plans differ, and both values.
func Difference(a, b *results.Plan) string {
	var ignored []string
	if !a.Same(b) {
		ignored = []string{"replications"}
	}
	if d, _ := apart(a.Scenario, b.Scenario, ignored...); d != nil {
		return fmt.Sprintf("%s: found %s, want %s", d.Field, d.One, d.Other)
	}
	for _, field := range [][3]string{
		{"--tables", a.Tables, b.Tables}, {"--ledger", strconv.FormatBool(a.Ledgers), strconv.FormatBool(b.Ledgers)}, {"version of bourse", a.Version, b.Version},
	} {
		if field[1] != field[2] {
			return fmt.Sprintf("%s: found %s, want %s", field[0], field[1], field[2])
		}
	}
	for path, sum := range a.Inputs {
		if b.Inputs[path] != sum {
			return fmt.Sprintf("%s has changed", path)
		}
	}
	return "the scenario file has another name or location"
}

// apart returns the first field in which two scenario files differ, or nil if there is
// none. It ignores the given top-level fields. If one of the files cannot be read, ok is
// false.
func apart(one, other string, ignored ...string) (d *scenario.Difference, ok bool) {
	a, err := scenario.Stored("", one)
	b, wrong := scenario.Stored("", other)
	if err != nil || wrong != nil {
		return nil, false
	}
	return scenario.Differ(&a, &b, ignored...), true
}

// planOf returns the plan of the units in p.
func planOf(p *experiments.Prepared, to *Target) results.Plan {
	plan := results.Plan{
		Scenario: to.Scenario, Source: map[string]string{}, Command: to.Command, Notes: p.Notes(), Replications: p.Experiment.Replications,
		Alike: p.Alike(), Tables: to.Tables.String(), Ledgers: to.Ledgers, Inputs: maps.Clone(p.Inputs),
	}
	if to.Source.Path != "" {
		plan.Source[to.Source.Path] = to.Source.SHA256
	}
	for _, u := range p.Units() {
		plan.Units = append(plan.Units, u.Name())
	}
	return plan
}

// pictures writes the figures, and the page that shows all results.
func (s *Report) pictures(w *results.Writer, p Target, kept []report.Ledger, first *shown) error {
	alone := report.Document{Formats: []string{"svg", "csv", "vl.json"}, Figures: figures(s.labels(), s.Experiment, s.Beside(), s.SummaryRows(), s.CurveRows())}
	if f := s.Experiment.Figure; f != nil && f.Less != "" {
		alone.Figures = append(alone.Figures, Differences(s.labels(), s.Experiment, s.MetricRows(f.Metrics...))...)
	}
	alone.Figures = append(alone.Figures, s.negotiation().Figures...)
	for _, f := range alone.Figures {
		s.drawn = append(s.drawn, f.Name)
	}
	var files []report.File
	var drawn errgroup.Group
	drawn.Go(func() (err error) { files, err = alone.Files(""); return err })
	page := s.Document(p.Dir)
	page.Command, page.Scenario, page.Ledgers = p.Command, p.Scenario, kept
	sections, err := s.sections(w, first)
	if err := errors.Join(drawn.Wait(), err); err != nil {
		return err
	}
	page.Sections, page.Figures = sections, alone.Figures
	for _, file := range files {
		if err := w.File("figures/"+file.Name, file.Data); err != nil {
			return err
		}
	}
	page.Figures = append(page.Figures, s.maps(page.Figures)...)
	html, err := page.HTML()
	if err != nil {
		return err
	}
	return errors.Join(w.File("report.html", html), w.File("scenario.yaml", []byte(p.Scenario)))
}

// told returns the notes that follow from the results.
func (s *Report) told() []string {
	e := s.Experiment
	_, late := s.jobs(nil)
	notes := slices.Concat(s.stopped(), s.noSample(), s.refusals(), late, s.shortfalls(), s.Beside().Against)
	swept := len(e.Sweep) > 0
	if swept && !slices.ContainsFunc(sweep(s.labels(), e).Metrics, func(m string) bool { return strings.Contains(m, "efficiency") }) {
		return notes
	}
	return append(notes, s.Measured()...)
}

// ledgers opens the journals to be stored for a unit.
type ledgers struct {
	draft *results.Draft
	all   bool
	fatal func(error)       // handler of store failures
	heads map[string]string // heads of the journals, by the key of the directory
}

func (l *ledgers) open(configuration, admission string, rep int) (bank.Journal, func(error) error, error) {
	if rep > 0 && !l.all {
		return nil, nil, nil
	}
	dir, key, err := l.draft.LedgerDir(configuration, admission, rep)
	if err != nil {
		return nil, nil, err
	}
	j, err := store.Create(dir, store.Options{Reproducible: true, Fatal: l.fatal})
	if err != nil {
		return nil, nil, err
	}
	return j, func(err error) error {
		if err := errors.Join(err, j.Close()); err != nil {
			return err
		}
		l.heads[key] = j.Head().String()
		return nil
	}, nil
}

// journals returns the journals that have the given heads, sorted by path.
func journals(heads map[string]string) []report.Ledger {
	var kept []report.Ledger
	for _, path := range slices.Sorted(maps.Keys(heads)) {
		kept = append(kept, report.Ledger{Path: path, Head: heads[path]})
	}
	return kept
}

// Keep runs the units of p that to.Dir does not contain. It returns the measurements of all
// units. The units stay in to.Dir until the caller removes them. An interrupted run can be
// continued.
func Keep(ctx context.Context, p *experiments.Prepared, opts experiments.Options, to Target) (s *experiments.Study, units *results.Units, err error) {
	if to.Dir, err = results.Unfinished(to.Dir); err != nil {
		return nil, nil, err
	}
	if to.Fresh {
		if err := results.Forget(to.Dir); err != nil {
			return nil, nil, err
		}
	}
	to.Tables, to.Bare = results.None, true
	plan := planOf(p, &to)
	if units, err = results.OpenUnits(to.Dir, plan, false); err != nil {
		return nil, nil, err
	}
	if err = find(ctx, p, opts, &to, units, p.Units(), units); err != nil {
		units.Leave()
		return nil, nil, err
	}
	s = experiments.NewStudy(p.Experiment)
	at, err := where([]results.Source{units})
	if err == nil {
		err = gather(s, &plan, at, func(experiments.Unit, *results.Unit, string) error { return nil })
	}
	if err != nil {
		units.Close()
	}
	return s, units, err
}
