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
	"pgregory.net/rapid"
)

var rewrite = flag.Bool("rewrite", false, "rewrite testdata")

// Rows are invented; they are chosen to hold every kind of cell.
var (
	jobs = []Job{
		{"pareto-high", "cac", 0, "j00", "u3", 12.5, 300, 4, 18_250_000, "accept", "fits", new(12.5), new(312.5), 1200, new(1200.0), new(Money(1_950_123)), new(Money(0)), new(true)},
		{"pareto-high", "cac", 0, "j01", "u1", 44, 1.0 / 3, 10, 1, "reject", "would violate j00: 0.4 < 0.5", nil, nil, 10.0 / 3, nil, nil, nil, nil},
		{"pareto-high", "cac", 1, "-1", "=u,\"2\"", 0, 1e-300, 1, 0, "accept", "'quoted'", new(0.0), new(5.0), 5, new(0.25), new(Money(999_999_999_999_999_999)), new(Money(-1)), new(false)},
	}
	prices    = []Price{{"pareto-high", "cac", 0, 0, 0.0125}, {"pareto-high", "cac", 0, 300, 0}}
	metrics   = []Metric{{"pareto-high", "cac", 0, "violations", new(0.01)}, {"pareto-high", "cac", 1, "violations", nil}}
	summaries = []Summary{{"pareto-high", "cac", "violations", 1, new(0.01), nil, nil, nil, new(0.01)}}
	points    = []Point{{"pareto-high", "cac", 0.5, 5, new(0.75), new(0.05), new(0.69), new(0.81)}}
)

// write makes a results directory of the rows above and returns its path.
func write(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	w, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := w.LedgerDir("pareto-high", "cac", 0)
	err = errors.Join(err, w.Jobs(jobs[:2]), w.Jobs(jobs[2:]), w.Prices(prices), w.Metrics(metrics),
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

// TestRoundTrip checks that what is read is what was written, in both forms.
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
	equal("jobs.parquet", collect(t, d.Jobs()), jobs)
	again, err := readTable[Job](d.file("jobs.csv"))
	if err != nil {
		t.Fatal(err)
	}
	equal("jobs.csv", again, jobs)
	equal("prices.parquet", collect(t, d.Prices()), prices)
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
	if err := d.Verify(); err != nil {
		t.Error(err)
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

// TestSchema checks that Parquet readers see money as decimal(18, 6), null where
// a column may not apply, and the columns in the order of the documentation.
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

// TestSameBytes checks that bytes depend on the rows alone, however they were
// divided into calls.
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
		w, err := Create(dir)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(many); i += step {
			if err := w.Jobs(many[i:min(i+step, len(many))]); err != nil {
				t.Fatal(err)
			}
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
	for _, step := range []int{50, 777, rowsPerGroup} {
		if got := sums(step); !reflect.DeepEqual(got, want) {
			t.Errorf("in calls of %d rows: %v, want %v", step, got, want)
		}
	}
}

// TestRefused checks that what readers would disagree about is refused, that the
// error names table, row and column, and that no row of the call is written.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*Job)
		want   string
	}{
		{"NaN", func(j *Job) { j.Arrival = math.NaN() }, "jobs, row 2: column arrival is NaN"},
		{"infinity", func(j *Job) { j.WorkDone = new(math.Inf(1)) }, "column work_done is +Inf"},
		{"control", func(j *Job) { j.Reason = "a\x1b[2J" }, "column reason \"a\\x1b[2J\" holds control character U+001B"},
		{"line", func(j *Job) { j.User = "a\nb" }, "U+000A"},
		{"bytes", func(j *Job) { j.Job = "\xff" }, "not UTF-8"},
		{"money", func(j *Job) { j.Paid = new(Money(1e18)) }, "column paid is $1000000000000.000000: want less than 10^12"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "out")
			w, err := Create(dir)
			if err != nil {
				t.Fatal(err)
			}
			rows := []Job{jobs[0], jobs[1]}
			c.change(&rows[1])
			if err := w.Jobs(rows); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if err := w.Close(Manifest{}); err != nil {
				t.Fatal(err)
			}
			d, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			if got := collect(t, d.Jobs()); len(got) != 0 {
				t.Errorf("%d rows written, want 0", len(got))
			}
		})
	}
}

// TestPlace checks that a results directory never replaces anything else, that
// it replaces older results, and that a run given up leaves nothing.
func TestPlace(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	full := filepath.Join(base, "full")
	if err := errors.Join(os.Mkdir(full, 0o755), os.WriteFile(filepath.Join(full, "thesis.tex"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(full); !errors.Is(err, ErrNotResults) {
		t.Errorf("over a directory: %v, want ErrNotResults", err)
	}
	if _, err := Create(filepath.Join(full, "thesis.tex")); err == nil {
		t.Error("over a file: no error")
	}
	dir := filepath.Join(base, "deep", "out")
	for i := range 2 {
		w, err := Create(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(Manifest{Seed: uint64(i)}); err != nil {
			t.Fatal(err)
		}
		w.Abort()
	}
	w, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	w.Abort()
	if err := w.Close(Manifest{}); err == nil {
		t.Error("close after abort: no error")
	}
	if d, err := Open(dir); err != nil || d.Manifest.Seed != 1 {
		t.Errorf("open: %v, want the second run's", err)
	}
	if entries, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(entries) != 1 {
		t.Errorf("beside the results: %v, %v", entries, err)
	}
	if w, err = Create(dir); err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	for _, name := range []string{"", "..", "../x", "/x", "a/../../x", "manifest.json", "a\nb", "jobs.csv"} {
		if err := w.File(name, nil); err == nil {
			t.Errorf("file %q: no error", name)
		}
	}
}

// TestVerify flips a byte of each file, then removes it: each is named.
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
			if err := d.Verify(); err == nil || !strings.Contains(err.Error(), d.file(name)) {
				t.Errorf("%s spoilt: %v", name, err)
			}
		}
		if err := os.WriteFile(d.file(name), was, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Verify(); err != nil {
		t.Error(err)
	}
}

// TestOpen checks the sentence that each kind of wrong directory is given.
func TestOpen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ manifest, want string }{
		{"", "not a results directory: it has no manifest.json"},
		{"{}", "not a results directory: its manifest.json is of another kind"},
		{"[", "not a results directory"},
		{`{"kind": "bourse results", "format": 9}`, "has format 9, want 1"},
		{`{"kind": "bourse results", "format": 1, "seed": 7}`, "manifest.json: json"},
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

// TestReadErrors checks that an error names file, row and column.
func TestReadErrors(t *testing.T) {
	t.Parallel()
	const header = "configuration,admission,metric,n,mean,sd,lo95,hi95,paper\n"
	for _, c := range []struct{ text, want string }{
		{"", "s.csv, row 1: empty: want a header"},
		{"a,b\n", "s.csv, row 1: 2 cells, want 9"},
		{strings.Replace(header, "sd", "std", 1), `s.csv, row 1: column 6 is "std", want "sd"`},
		{header + "c,a,m,1\n", "s.csv, row 2: 4 cells, want 9"},
		{header + "c,a,m,1,2,,,,\nc,a,m,x,2,,,,\n", `s.csv, row 3, column n: "x", want an integer`},
		{header + "c,a,m,1,NaN,,,,\n", `s.csv, row 2, column mean: "NaN", want a finite number`},
		{header + "c,a,m,1,1e999,,,,\n", `column mean: "1e999", want a finite number`},
		{header + "c,a\x07,m,1,1,,,,\n", "column admission: "},
		{header + "c,\"a,m,1,1,,,,\n", "s.csv, row 2: "},
	} {
		var got error
		for _, err := range readCSV[Summary]("s.csv", strings.NewReader(c.text)) {
			got = err
		}
		if got == nil || !strings.Contains(got.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, got, c.want)
		}
	}
	dir := write(t)
	for name, text := range map[string]string{"jobs.parquet": "no parquet", "prices.parquet": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(filepath.Join(write(t), "prices.parquet"), filepath.Join(dir, "jobs.parquet")); err != nil {
		t.Fatal(err)
	}
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range d.Jobs() {
		if err == nil || !strings.Contains(err.Error(), "jobs.parquet: 5 columns, want 18") {
			t.Errorf("another table's file: %v", err)
		}
	}
	for _, err := range d.Prices() {
		if err == nil || !strings.Contains(err.Error(), "prices.parquet") {
			t.Errorf("an empty file: %v", err)
		}
	}
}

// TestMoney checks the text of amounts, and the bound on what is parsed.
func TestMoney(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]Money{
		"0.000000": 0, "0.000001": 1, "-0.000001": -1, "12.500000": 12_500_000,
		"-999999999999.999999": -(maxMoney - 1),
	} {
		got, err := parseMoney(s)
		if err != nil || got != want || want.String() != s {
			t.Errorf("%s = %d, %v, want %d, which prints %s", s, got, err, want, want)
		}
	}
	for _, s := range []string{"", "1e9", "+1", "1.0000001", "1000000000000", "--1", ".", "1_0", "NaN", strings.Repeat("9", 1<<20)} {
		if m, err := parseMoney(s); err == nil {
			t.Errorf("%.40q = %v, want an error", s, m)
		}
	}
}

// TestAnyRow checks that any row that is not refused reads back as it was, from
// CSV and from Parquet, and that no CSV cell of text begins like a formula.
func TestAnyRow(t *testing.T) {
	t.Parallel()
	text := rapid.StringOf(rapid.RuneFrom([]rune("=+-@'\",; aé漢"))).Filter(func(s string) bool { return checkText(s) == nil })
	number := rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64)
	money := rapid.Map(rapid.Int64Range(-int64(maxMoney)+1, int64(maxMoney)-1), func(n int64) Money { return Money(n) })
	row := rapid.Custom(func(t *rapid.T) Job {
		return Job{
			text.Draw(t, "configuration"), text.Draw(t, "admission"), rapid.Int().Draw(t, "replication"),
			text.Draw(t, "job"), text.Draw(t, "user"), number.Draw(t, "arrival"), number.Draw(t, "runtime"),
			rapid.Int().Draw(t, "nodes"), money.Draw(t, "value"), text.Draw(t, "decision"), text.Draw(t, "reason"),
			rapid.Ptr(number, true).Draw(t, "start"), rapid.Ptr(number, true).Draw(t, "end"), number.Draw(t, "work"),
			rapid.Ptr(number, true).Draw(t, "work_done"), rapid.Ptr(money, true).Draw(t, "paid"),
			rapid.Ptr(money, true).Draw(t, "penalty"), rapid.Ptr(rapid.Bool(), true).Draw(t, "fulfilled"),
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		want := rapid.SliceOfN(row, 1, 20).Draw(rt, "rows")
		dir := t.TempDir()
		tab, err := newTable[Job](dir, "jobs", ".csv", ".parquet")
		if err != nil {
			rt.Fatal(err)
		}
		if err := errors.Join(tab.append(want), tab.close()); err != nil {
			rt.Fatal(err)
		}
		if got := collect(t, readParquet[Job](filepath.Join(dir, "jobs.parquet"))); !reflect.DeepEqual(got, want) {
			rt.Errorf("jobs.parquet: %+v, want %+v", got, want)
		}
		got, err := readTable[Job](filepath.Join(dir, "jobs.csv"))
		if err != nil || !reflect.DeepEqual(got, want) {
			rt.Errorf("jobs.csv: %+v, %v, want %+v", got, err, want)
		}
		for _, r := range want {
			if s := SafeText(r.User); s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
				rt.Errorf("cell %q", s)
			}
		}
	})
}

// FuzzReadCSV checks that no text makes the reader panic, and that rows which it
// accepts are rows that the writer accepts and gives back.
func FuzzReadCSV(f *testing.F) {
	for _, name := range []string{"jobs.csv", "metrics.csv"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Fuzz(func(t *testing.T, text string) {
		var rows []Job
		for row, err := range readCSV[Job]("jobs.csv", strings.NewReader(text)) {
			if err != nil {
				return
			}
			rows = append(rows, row)
		}
		var out bytes.Buffer
		w, err := newCSVWriter[Job](&out)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			v := reflect.ValueOf(&rows[i]).Elem()
			if err := errors.Join(checkRow(w.cols, v), w.write(v)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.close(); err != nil {
			t.Fatal(err)
		}
		if again := collect(t, readCSV[Job]("again", &out)); !reflect.DeepEqual(again, rows) {
			t.Errorf("%+v, want %+v", again, rows)
		}
	})
}
