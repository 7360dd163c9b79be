package publication

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"bourse/bank"
	"bourse/bank/store"
	"bourse/experiments"
	"bourse/experiments/recovered"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/experiments/stats"
)

// A rederivation computes the results in d again.
type rederivation struct {
	findings []results.Change
	beyonds  []string // omitted comparisons, with reasons

	d     *results.Dir
	sound bool // whether the ledgers in d are clean
	deep  bool // whether to run the experiment again
	e     scenario.Experiment
	p     *experiments.Prepared // nil if the scenario can no longer be prepared
	units *results.Whole
	kept  *results.Plan // plan of the units in d
	to    Target
}

// Rederive computes the results in d again and compares each file. It uses the stored rows of
// jobs and prices, and the plan of jobs generated from the scenario and the seed. If deep is
// set, Rederive runs the experiment again, and reports a finding if that is impossible. The
// function notes returns the notes of the [Target]. The argument sound reports whether the
// ledgers are clean. The files must match the manifest. Rederive returns the differences, and a
// list of the omitted comparisons with reasons.
func Rederive(ctx context.Context, d *results.Dir, notes func(*scenario.Experiment) []string, sound, deep bool, opts experiments.Options) ([]results.Change, []string, error) {
	r := &rederivation{d: d, sound: sound, deep: deep}
	err := r.again(ctx, notes, opts)
	return r.findings, r.beyonds, err
}

func (r *rederivation) again(ctx context.Context, notes func(*scenario.Experiment) []string, opts experiments.Options) error {
	m := &r.d.Manifest
	if m.Format != results.Format || m.Rules != results.Rules {
		r.beyond("jobs, metrics, intervals, figures, page and decisions, because the results have format %d and rules %d, but this version computes format %d and rules %d", m.Format, m.Rules, results.Format, results.Rules)
		r.shallow(fmt.Sprintf("format %d and rules %d", m.Format, m.Rules), fmt.Sprintf("format %d and rules %d", results.Format, results.Rules))
		return r.older()
	}
	if err := r.ready(notes); err != nil || r.units == nil {
		return err
	}
	deep := r.deep && r.p != nil
	temp, err := os.MkdirTemp("", "bourse-audit-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	r.to.Dir = filepath.Join(temp, filepath.Base(r.d.Path))
	err = recovered.Do(func() error {
		if deep {
			_, err := Publish(ctx, r.p, opts, r.to)
			return err
		}
		return r.gathered(ctx)
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		r.wrong(err)
		return nil
	}
	made, err := results.Open(r.to.Dir)
	if err != nil {
		return err
	}
	return r.compare(made, deep)
}

// older compares only data that results of every format contain. It compares jobs.parquet with
// jobs.csv, and the counts and means in summary.csv with the metrics.
func (r *rederivation) older() error {
	if c := r.d.TwoForms(); c != (results.Change{}) {
		r.findings = append(r.findings, c)
	}
	const file = "summary.csv"
	if _, ok := r.d.Manifest.Outputs[file]; !ok {
		return nil
	}
	type key struct{ configuration, admission, metric string }
	values := make(map[key][]float64)
	for m, err := range r.d.Unchecked().EachMetric() {
		if err != nil {
			r.find(r.d.File("metrics"), err.Error(), "a readable table")
			return nil
		}
		if m.Value != nil {
			of := key{m.Configuration, m.Admission, m.Metric}
			values[of] = append(values[of], *m.Value)
		}
	}
	rows, err := r.d.Unchecked().Summary()
	if err != nil {
		r.find(file, err.Error(), "a readable table")
		return nil
	}
	for i, row := range rows {
		xs := values[key{row.Configuration, row.Admission, row.Metric}]
		mean, found := stats.Summarize(xs, stats.Quantity{}).Mean, math.NaN()
		if row.Mean != nil {
			found = *row.Mean
		}
		switch {
		case row.N != len(xs):
			r.find(file, fmt.Sprintf("row %d, column n: %d", i+2, row.N), fmt.Sprintf("%d, as in %s", len(xs), r.d.File("metrics")))
			return nil
		case row.N > 0 && !(math.Abs(found-mean) <= 1e-12*math.Abs(mean)):
			r.find(file, fmt.Sprintf("row %d, column mean: %v", i+2, found), fmt.Sprintf("%v, as in %s", mean, r.d.File("metrics")))
			return nil
		}
	}
	return nil
}

func (r *rederivation) beyond(format string, args ...any) {
	r.beyonds = append(r.beyonds, fmt.Sprintf(format, args...))
}

func (r *rederivation) find(file, found, want string) {
	r.findings = append(r.findings, results.Change{File: file, Found: found, Want: want})
}

// shallow records why a deep audit cannot run the experiment again.
func (r *rederivation) shallow(found, want string) {
	if r.deep {
		r.find("manifest.json", found, want+", because --deep runs the experiment again")
	}
}

// wrong records that the results could not be computed again.
func (r *rederivation) wrong(err error) {
	if !r.sound || len(r.findings) > 0 {
		r.beyond("tables, figures and page: %v", err)
	} else if r.version() {
		r.find("units.json", err.Error(), "units and values that suffice to create tables, figures and page")
	} else {
		r.beyond("tables, figures and page, because another version of bourse, %s, wrote them: %v", r.d.Manifest.Version.Revision, err)
		r.shallow(err.Error(), "results that this version can compute")
	}
}

// version reports whether this version of bourse made the results.
func (r *rederivation) version() bool {
	return reflect.DeepEqual(r.d.Manifest.Version, results.BuildVersion())
}

// ready reads the scenario and the units. It computes everything that does not require a
// run.
func (r *rederivation) ready(notes func(*scenario.Experiment) []string) (err error) {
	m := &r.d.Manifest
	if r.e, err = scenario.Stored(r.d.Path, m.Scenario); err != nil {
		r.find("manifest.json", err.Error(), "a scenario")
		return nil
	}
	if r.units, r.kept, err = r.d.Units(); err != nil {
		r.find("units.json", err.Error(), "the units of the run")
		r.units = nil
		return nil
	}
	plan := r.kept
	tables, err := results.ParseTables(plan.Tables)
	if err != nil {
		r.find("units.json", "tables: "+err.Error(), "one of them")
		r.units = nil
		return nil
	}
	r.to = Target{
		Scenario: m.Scenario, Command: m.Command, Notes: notes(&r.e), Elapsed: func() float64 { return 0 }, Tables: tables,
		Ledgers: plan.Ledgers, Bare: len(m.Ledgers) == 0, Fresh: true,
	}
	for path, sum := range plan.Source {
		r.to.Source = File{path, sum}
	}
	if r.p, err = experiments.Prepare(&r.e); err == nil {
		err = r.p.Unchanged(m.Inputs)
	}
	if err != nil {
		r.p = nil
		r.beyond("the plan of jobs, and decisions: %v", err)
		r.shallow(err.Error(), "the inputs of the run")
	}
	return nil
}

// gathered writes results from the units of d.
func (r *rederivation) gathered(ctx context.Context) error {
	plan := *r.kept
	x := r.e.Expanded()
	if x.Until != nil {
		x.Replications = r.d.Manifest.Replications
	}
	if r.p != nil {
		drawn := planOf(r.p, &r.to)
		drawn.Kind, drawn.Format, drawn.Version, drawn.Replications = plan.Kind, plan.Format, plan.Version, x.Replications
		drawn.Units = drawn.Units[:0]
		for _, u := range r.p.Units() {
			if u.To <= x.Replications {
				drawn.Units = append(drawn.Units, u.Name())
			}
		}
		plan = drawn
	}
	from := newRemaker(ctx, r, &x)
	defer func() { from.jobs.stop(); from.prices.stop() }()
	at, err := where([]results.Source{from})
	if err == nil {
		err = at.whole(&plan)
	}
	if err != nil {
		return err
	}
	w, err := results.Create(r.to.Dir, r.to.Tables, experiments.Axes(&x))
	if err != nil {
		return err
	}
	defer w.Abort()
	if _, err = join(w, &x, &plan, at, r.to); err != nil {
		return err
	}
	from.end()
	return nil
}

// compare compares the files and records which comparisons are omitted.
func (r *rederivation) compare(made *results.Dir, deep bool) error {
	const ledger = "ledger/"
	changes, err := r.d.Different(made, func(name string) bool { return strings.HasPrefix(name, ledger) && !deep })
	if err != nil {
		return err
	}
	drawn := []string(nil)
	for _, c := range changes {
		switch ext := filepath.Ext(c.File); {
		case strings.HasPrefix(c.File, ledger):
			continue // compare the ledgers entry by entry instead
		case !deep && c.File == "jobs.parquet" && r.d.File("jobs") != c.File && c.Found != results.SameRows:
			c.Want += ", as in jobs.csv"
		case !r.version() && ext != ".csv" && ext != ".yaml" && c.File != "manifest.json" && (ext != ".parquet" || c.Found == results.SameRows):
			drawn = append(drawn, c.File)
			continue
		case !r.version():
			c.Want += ", as this version computes them; bourse " + r.d.Manifest.Version.Version + ", revision " + r.d.Manifest.Version.Revision
		}
		r.findings = append(r.findings, c)
	}
	if len(drawn) > 0 {
		r.beyond("%s, because another version of bourse wrote them, and this version writes them differently", strings.Join(drawn, ", "))
	}
	if !deep {
		r.beyond("decisions with their notes, prices, and outcomes of jobs that are not in the ledger; --deep decides every request again")
	} else if err := r.entries(made); err != nil {
		return err
	}
	r.beyond("the command, its wall time, the program's version and the claims in manifest.json and units.json")
	return nil
}

// entries compares the ledgers and records the first entry of each that differs.
func (r *rederivation) entries(made *results.Dir) error {
	for _, key := range slices.Sorted(maps.Keys(made.Manifest.Ledgers)) {
		head := r.d.Manifest.Ledgers[key]
		if head == made.Manifest.Ledgers[key] || head == "" { // the comparison of the manifests reports a missing head
			continue
		}
		one, err := store.OpenReader(filepath.Join(r.d.Path, key), store.Options{Reproducible: true})
		if err != nil {
			r.find(key, err.Error(), "a ledger")
			continue
		}
		other, err := store.OpenReader(filepath.Join(made.Path, key), store.Options{Reproducible: true})
		if err == nil {
			r.entry(key, one, other)
			err = other.Close()
		}
		if err := errors.Join(err, one.Close()); err != nil {
			return err
		}
	}
	return nil
}

// entry records the first entry of a ledger that differs from the recomputed entry, and the
// field in which it differs.
func (r *rederivation) entry(key string, one, made *store.Reader) {
	next, stop := iter.Pull2(made.Entries())
	defer stop()
	seq := int64(0)
	for e, hash := range one.Entries() {
		seq++
		want, other, ok := next()
		if !ok {
			r.find(key, fmt.Sprintf("entry %d: one more", seq), "none")
			return
		}
		if hash == other {
			continue
		}
		field, x, y := entryDiffers(e, want)
		r.find(key, fmt.Sprintf("entry %d, %s of contract %d, %s: %s", seq, e.Kind, e.Contract, field, x), y+" derived from scenario and seed")
		return
	}
	if err := one.Err(); err != nil {
		r.find(key, err.Error(), "a ledger")
	} else if _, _, ok := next(); ok {
		r.find(key, fmt.Sprintf("entry %d: none", seq+1), "one")
	}
}

// entryDiffers returns the first field in which two entries differ. It compares the notes of
// the entries field by field.
func entryDiffers(a, b *bank.Entry) (field, x, y string) {
	var one, other map[string]json.RawMessage
	if json.Unmarshal(a.Note, &one) == nil && json.Unmarshal(b.Note, &other) == nil {
		all := maps.Clone(one)
		maps.Copy(all, other)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if x, y := string(one[name]), string(other[name]); x != y {
				return name, cmp.Or(x, "nothing"), cmp.Or(y, "nothing")
			}
		}
	}
	rest := *a
	if rest.Note = b.Note; reflect.DeepEqual(rest, *b) {
		return "note", string(a.Note), string(b.Note)
	}
	return "kind, time or moves", fmt.Sprint(a.Kind, a.Time, a.Moves), fmt.Sprint(b.Kind, b.Time, b.Moves)
}
