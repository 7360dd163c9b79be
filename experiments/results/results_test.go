package results

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

var rewrite = flag.Bool("rewrite", false, "rewrite testdata")

// The rows are invented and contain every kind of cell.
var (
	jobs = []Job{
		{"pareto-high", "cac", 0, "j00", "u3", 12.5, 300, new(450.0), new(1012.5), 4, 18_250_000, new(0.01825), "accept", "fits", new(12.5), new(312.5), new(1.0), 1200, new(1200.0), new(Money(1_950_123)), new(Money(0)), new(true), nil, nil, new(Money(0))},
		{"pareto-high", "cac", 0, "j01", "u1", 44, 1.0 / 3, new(1.0), new(45.0), 10, 1, nil, "reject", "would violate j00: 0.4 < 0.5", nil, nil, nil, 10.0 / 3, nil, nil, nil, nil, nil, nil, nil},
		{"pareto-high", "cac", 1, "-1", "=u,\"2\"", 0, 1e-300, nil, nil, 1, 0, new(0.0), "accept", "'quoted'", new(0.0), new(5.0), new(0.05), 5, new(0.25), new(Money(999_999_999_999_999_999)), new(Money(-1)), new(false), new(2), new(12.5), new(Money(3_000_000))},
	}
	prices    = []Price{{"pareto-high", "cac", 0, 0, 0.0125}, {"pareto-high", "cac", 0, 300, 0}}
	metrics   = []Metric{{"pareto-high", "cac", 0, "violations", new(0.01), new(100)}, {"pareto-high", "cac", 1, "violations", nil, nil}}
	summaries = []Summary{{"pareto-high", "cac", "violations", 1, new(0.01), nil, nil, nil, new(0.01)}}
	points    = []Point{{"pareto-high", "cac", 0.5, 5, new(0.75), new(0.05), new(0.69), new(0.81)}}
)

// write makes a results directory with the rows above and returns its path.
func write(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	w, err := Create(dir, Both, nil)
	if err != nil {
		t.Fatal(err)
	}
	key := "ledger/pareto-high/cac/0"
	rows := NewEncoder(Both, nil)
	block := func() Block {
		b, err := rows.Block()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	err = errors.Join(err, rows.Jobs(jobs[:2]), w.Append(block()), rows.Jobs(jobs[2:]), rows.Prices(prices), rows.Metrics(metrics), w.Append(block()),
		w.Summary(summaries), w.Curve(points),
		w.File("report.html", []byte("<!doctype html>")), w.File(key+"/journal", []byte("entries")),
		w.Close(Manifest{
			Command: []string{"bourse", "run"}, Scenario: "jobs: 2\n", Seed: math.MaxUint64,
			Replications: 2, Ledgers: map[string]string{key: "head 2"},
		}))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func collect[R any](t testing.TB, seq func(func(R, error) bool)) []R {
	t.Helper()
	var rows []R
	for row, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// TestRoundTrip checks that rows are read as they were written, from CSV and from Parquet.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	d, err := Open(write(t))
	if err != nil {
		t.Fatal(err)
	}
	equal := func(name string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%+v, want\n%+v", name, got, want)
		}
	}
	equal("jobs.parquet", collect(t, d.Jobs(nil, nil)), jobs)
	for rep, from := range []int{0, 2, 3} { // the third row is from replication 1, in its own group
		row := 0
		equal(fmt.Sprint("replication ", rep), collect(t, d.Jobs(func(n int) bool { return n == rep }, &row)), append([]Job(nil), jobs[from:[]int{2, 3, 3}[rep]]...))
		if want := []int{2, 3, 0}[rep]; row != want {
			t.Errorf("the last row of replication %d is row %d, want %d", rep, row, want)
		}
	}
	again, err := readTable[Job](d, "jobs.csv")
	if err != nil {
		t.Fatal(err)
	}
	equal("jobs.csv", again, jobs)
	equal("prices.parquet", collect(t, d.Prices(nil)), prices)
	gotMetrics, err1 := d.Metrics()
	gotSummary, err2 := d.Summary()
	gotCurve, err3 := d.Curve()
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	equal("metrics.csv", gotMetrics, metrics)
	equal("summary.csv", gotSummary, summaries)
	equal("curve.csv", gotCurve, points)
	if m := d.Manifest; m.Seed != math.MaxUint64 || m.Ledgers["ledger/pareto-high/cac/0"] != "head 2" ||
		m.ScenarioSHA256 != hashText("jobs: 2\n") || m.Version.Go == "" {
		t.Errorf("manifest = %+v", m)
	}
	if changes, err := d.Check(t.Context()); err != nil || len(changes) > 0 {
		t.Error(changes, err)
	}
}

// TestGolden checks the text of every file that people read.
func TestGolden(t *testing.T) {
	t.Parallel()
	dir := write(t)
	for _, name := range []string{"README.txt", "jobs.csv", "metrics.csv", "summary.csv", "curve.csv"} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name)
		if *rewrite {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
}

// TestSchema checks that Parquet readers see money as decimal(18, 6), null where a column
// may not apply, and the columns in the documented order.
func TestSchema(t *testing.T) {
	t.Parallel()
	got := parquet.SchemaOf(Job{}).String()
	for _, want := range []string{
		"required int64 value (DECIMAL(18,6));", "optional int64 paid (DECIMAL(18,6));",
		"optional double start;", "optional boolean fulfilled;", "required binary user (STRING);",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// TestSameBytes checks that the bytes of a block depend only on the rows, not on their division
// into calls.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	many := make([]Job, rowsPerGroup+5000)
	for i := range many {
		many[i] = jobs[i%len(jobs)]
		many[i].Replication = i / 50
		many[i].Job = fmt.Sprint("j", i%50)
		many[i].Arrival = float64(i) * 1.1
	}
	sums := func(step int) map[string]Output {
		dir := filepath.Join(t.TempDir(), "out")
		w, err := Create(dir, Both, nil)
		if err != nil {
			t.Fatal(err)
		}
		rows := NewEncoder(Both, nil)
		for i := 0; i < len(many); i += step {
			if err := rows.Jobs(many[i:min(i+step, len(many))]); err != nil {
				t.Fatal(err)
			}
		}
		block, err := rows.Block()
		if err := errors.Join(err, w.Append(block)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(Manifest{WallSeconds: float64(step)}); err != nil {
			t.Fatal(err)
		}
		d, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		return d.Manifest.Outputs
	}
	want := sums(len(many))
	for _, step := range []int{50, 777} {
		if got := sums(step); !reflect.DeepEqual(got, want) {
			t.Errorf("in calls of %d rows: %v, want %v", step, got, want)
		}
	}
}

// TestVerify changes a byte of each file and then removes the file. An error must name each
// change.
func TestVerify(t *testing.T) {
	t.Parallel()
	d, err := Open(write(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Manifest.Outputs) != 9 {
		t.Errorf("%d outputs, want 9: %v", len(d.Manifest.Outputs), d.Manifest.Outputs)
	}
	for name := range d.Manifest.Outputs {
		was, err := os.ReadFile(d.file(name))
		if err != nil {
			t.Fatal(err)
		}
		changed := bytes.Clone(was)
		changed[len(changed)/2] ^= 1
		for _, spoil := range []func() error{
			func() error { return os.WriteFile(d.file(name), changed, 0o644) },
			func() error { return os.Remove(d.file(name)) },
		} {
			if err := spoil(); err != nil {
				t.Fatal(err)
			}
			if changes, err := d.Check(t.Context()); err != nil || len(changes) != 1 || changes[0].File != name {
				t.Errorf("%s spoilt: %v, error %v", name, changes, err)
			}
		}
		if err := os.WriteFile(d.file(name), was, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if changes, err := d.Check(t.Context()); err != nil || len(changes) > 0 {
		t.Error(changes, err)
	}
}

// TestOpen checks the error for each kind of wrong directory.
func TestOpen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ manifest, want string }{
		{"", "not a results directory: it has no manifest.json"},
		{"{}", "not a results directory: the manifest.json has a different kind"},
		{"[", "not a results directory"},
		{`{"kind": "bourse results", "format": 9}`, "has format 9, want 4"},
		{`{"kind": "bourse results", "format": 3, "rules": 9}`, "has rules of version 9, want at most 2"},
		{`{"kind": "bourse results", "format": 3, "seed": 7}`, "manifest.json: json"},
	} {
		dir := t.TempDir()
		if c.manifest != "" {
			if err := os.WriteFile(filepath.Join(dir, manifestName), []byte(c.manifest), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("manifest %q: %v, want %q", c.manifest, err, c.want)
		}
	}
}
