package publication

import (
	"bytes"
	"context"
	"flag"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"bourse/experiments"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
)

var (
	forgeries = flag.Int("remade.forgeries", 8, "number of values that TestForgedTogether changes")
)

// noNotes are the notes of a publication without notes.
func noNotes(*scenario.Experiment) []string { return nil }

// published publishes e in its own folder.
func published(t *testing.T, e *scenario.Experiment, tables results.Tables) *results.Dir {
	t.Helper()
	p, err := experiments.Prepare(e)
	if err != nil {
		t.Fatal(err)
	}
	pub := to(t, p, filepath.Join(t.TempDir(), "r"))
	pub.Tables = tables
	if _, err := Publish(t.Context(), p, experiments.Options{}, pub); err != nil {
		t.Fatal(err)
	}
	d, err := results.Open(pub.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A forgery provides the units of results in which one value differs from the measured value,
// with metric rows that match the changed value.
type forgery struct {
	*results.Whole
	study *experiments.Study
	out   *results.Encoder
	at    int // number of the changed value among all values
}

// Read implements [results.Source].
func (f *forgery) Read(name string) (*results.Unit, error) {
	of, err := experiments.ParseUnit(name)
	if err != nil {
		return nil, err
	}
	unit, err := f.Whole.Read(name)
	if err != nil {
		return nil, err
	}
	if f.at >= 0 && f.at < len(unit.Values) {
		x := &unit.Values[f.at]
		if *x++; math.IsNaN(*x) {
			*x = 0.5
		}
	}
	f.at -= len(unit.Values)
	found, width := unit.Values, f.study.Width()
	for rep := of.From; rep < of.To; rep++ {
		found = found[1:]
		for policy := range f.study.Cells[of.Configuration] {
			if err := f.out.Metrics(f.study.MeasuredRows(nil, of.Configuration, policy, rep, found)); err != nil {
				return nil, err
			}
			found = found[width:]
		}
	}
	b, err := f.out.Block()
	for file, rows := range b {
		if strings.HasPrefix(file, "metrics.") {
			unit.Block[file] = bytes.Clone(rows)
		}
	}
	return unit, err
}

// forged returns a copy of the results d in which value number at differs, and all data derived
// from this value agree with it: metrics, summary, curve, figures, page and manifest.
func forged(t *testing.T, d *results.Dir, at int) *results.Dir {
	t.Helper()
	r := &rederivation{d: d}
	if err := r.ready(noNotes); err != nil || r.p == nil {
		t.Fatal(err)
	}
	r.to.Dir = filepath.Join(t.TempDir(), "r")
	s := experiments.NewStudy(&r.e)
	from := &forgery{r.units, s, results.NewEncoder(r.to.Tables, experiments.Axes(s.Experiment)), at}
	w, err := results.Create(r.to.Dir, r.to.Tables, experiments.Axes(s.Experiment))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	sources, err := where([]results.Source{from})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := join(w, s.Experiment, r.kept, sources, r.to); err != nil {
		t.Fatal(err)
	}
	forged, err := results.Open(r.to.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return forged
}

// TestForgedTogether changes one measured number and adapts all files derived from it. Every
// file matches the manifest and agrees with every other file except the jobs table. The audit
// must find the change. The finding must name metrics.csv and the column, or units.values for a
// number that is not in a metric row.
func TestForgedTogether(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		*forgeries = min(*forgeries, 4)
	}
	d := published(t, parsed(t, `
name: small
base:
  workload: {model: {name: paper, jobs: 12, users: 3}}
  admission: [be, cac]
configurations: [{name: a}, {name: b}]
replications: 2
`), results.Both)
	r := &rederivation{d: d}
	if err := r.ready(noNotes); err != nil {
		t.Fatal(err)
	}
	s, total := experiments.NewStudy(&r.e), 0
	for _, name := range r.kept.Units {
		u, err := experiments.ParseUnit(name)
		if err != nil {
			t.Fatal(err)
		}
		total += s.Wants(u)
	}
	if changes, beyond, err := Rederive(t.Context(), forged(t, d, -1), noNotes, true, false, experiments.Options{}); err != nil || len(changes) > 0 {
		t.Fatalf("found %v, %v, want nothing; not compared: %q", changes, err, beyond)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	rows := 0
	for range *forgeries {
		at := rng.IntN(total)
		f := forged(t, d, at)
		if changes, err := f.Check(context.Background()); err != nil || len(changes) > 0 {
			t.Fatal(changes, err)
		}
		changes, _, err := Rederive(t.Context(), f, noNotes, true, false, experiments.Options{})
		if err != nil || len(changes) != 1 {
			t.Errorf("value %d: found %v, %v, want one change", at, changes, err)
			continue
		}
		c := changes[0]
		row := c.File == "metrics.csv" && (strings.Contains(c.Found, "column value: ") || strings.Contains(c.Found, "column trials: "))
		if !row && c.File != "units.values" || !strings.Contains(c.Want, "as jobs.csv comes to") {
			t.Errorf("value %d: found %v, want file and column", at, c)
		}
		if row {
			rows++
		}
	}
	if rows == 0 {
		t.Error("no row of metrics was forged")
	}
}
