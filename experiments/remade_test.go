package experiments

import (
	"bytes"
	"context"
	"flag"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"bourse/experiments/results"
	"bourse/experiments/scenario"
)

var (
	remadeDraws = flag.Uint64("remade.draws", 10, "number of random scenarios whose metrics TestRemade computes again")
	forgeries   = flag.Int("remade.forgeries", 8, "number of values that TestForgedTogether changes")
)

// noNotes are the notes of a publication that has none.
func noNotes(*scenario.Experiment) []string { return nil }

// published publishes e into a folder of its own.
func published(t *testing.T, e *scenario.Experiment, tables results.Tables) *results.Dir {
	t.Helper()
	p, err := Prepare(e)
	if err != nil {
		t.Fatal(err)
	}
	pub := to(t, p, filepath.Join(t.TempDir(), "r"))
	pub.Tables = tables
	if _, err := p.Publish(t.Context(), Options{}, pub); err != nil {
		t.Fatal(err)
	}
	d, err := results.Open(pub.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestRemade checks that an audit finds nothing in results that are as they should be, over
// random scenarios: what it computes of the rows of jobs is what the run measured.
func TestRemade(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		*remadeDraws = min(*remadeDraws, 6)
	}
	forms := []results.Tables{results.Both, results.Parquet, results.CSV}
	var numbers []uint64
	for n := range *remadeDraws {
		numbers = append(numbers, n)
	}
	for n, more := uint64(matrixHashes), *remadeDraws/2; more > 0; n++ { // with jobs that follow others
		if follows(draw(n).plan) {
			numbers = append(numbers, n)
			more--
		}
	}
	for _, n := range numbers {
		dir := t.TempDir()
		if err := draw(n).write(dir); err != nil {
			t.Fatal(err)
		}
		e, err := parse(dir)
		if err != nil {
			continue // refused
		}
		d := published(t, e, forms[n%3])
		changes, beyond, err := Rederive(t.Context(), d, noNotes, true, false, Options{})
		if err != nil || len(changes) > 0 {
			t.Errorf("draw %d: found %v, %v, want nothing; not compared: %q", n, changes, err, beyond)
		}
	}
}

// A forgery is units of results of which a value is not as it was measured, with rows of
// metrics to fit.
type forgery struct {
	*results.Whole
	study *Study
	out   *results.Encoder
	at    int // of all values
}

// Read implements [results.Source].
func (f *forgery) Read(name string) (*results.Unit, error) {
	of, err := parseUnit(name)
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
	found, width := unit.Values, f.study.width()
	for rep := of.From; rep < of.To; rep++ {
		found = found[1:]
		for policy := range f.study.cells[of.Configuration] {
			if err := f.out.Metrics(f.study.measuredRows(nil, of.Configuration, policy, rep, found)); err != nil {
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

// forged returns results like d, of which value number at is another, and with it all that is made of it:
// metrics, summary, curve, figures, page and manifest.
func forged(t *testing.T, d *results.Dir, at int) *results.Dir {
	t.Helper()
	r := &rederivation{d: d}
	if err := r.ready(noNotes); err != nil || r.p == nil {
		t.Fatal(err)
	}
	r.to.Dir = filepath.Join(t.TempDir(), "r")
	s := newStudy(&r.e)
	from := &forgery{r.units, s, results.NewEncoder(r.to.Tables, axes(s.Experiment)), at}
	w, err := results.Create(r.to.Dir, r.to.Tables, axes(s.Experiment))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	plan := *r.kept
	if _, err := join(w, s.Experiment, &plan, func(string) (results.Source, error) { return from, nil }, r.to); err != nil {
		t.Fatal(err)
	}
	forged, err := results.Open(r.to.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return forged
}

// TestForgedTogether changes one number of those that were measured of runs, and all files that are made of
// it to fit: every file is as the manifest describes it, and agrees with every other but the
// table of jobs. The audit finds it, and names metrics.csv and the column, or units.values for
// what is in no row of metrics.
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
	s, total := newStudy(&r.e), 0
	for _, name := range r.kept.Units {
		u, err := parseUnit(name)
		if err != nil {
			t.Fatal(err)
		}
		total += s.wants(u)
	}
	if changes, beyond, err := Rederive(t.Context(), forged(t, d, -1), noNotes, true, false, Options{}); err != nil || len(changes) > 0 {
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
		changes, _, err := Rederive(t.Context(), f, noNotes, true, false, Options{})
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
