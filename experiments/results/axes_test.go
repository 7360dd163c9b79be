package results

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// swept writes results with two axes, in which some blocks contain rows of several points.
func swept(t *testing.T, form Tables) (dir string, rows []Job) {
	t.Helper()
	var axes Axes
	axes.Axis("hosts.count", []string{"10", "2e1"})
	axes.Axis("Work", []string{"low", "high"})
	dir = filepath.Join(t.TempDir(), "out")
	w, err := Create(dir, form, axes)
	if err != nil {
		t.Fatal(err)
	}
	out := NewEncoder(form, axes)
	for _, at := range []string{"a@10,low", "a@10,high", "a@2e1,high"} {
		for _, j := range jobs {
			j.Configuration = at
			rows = append(rows, j)
		}
		err = errors.Join(err, out.Jobs(rows[len(rows)-len(jobs):]), out.Prices([]Price{{at, "be", 0, 0, 1}}), out.Metrics([]Metric{{at, "be", 0, "m", new(1.0), nil}}))
		if at != "a@10,low" { // two points in one block
			b, wrong := out.Block()
			err = errors.Join(err, wrong, w.Append(b))
		}
		err = errors.Join(err, w.Summary([]Summary{{at, "be", "m", 1, new(0.5), nil, nil, nil, nil}}), w.Curve([]Point{{at, "be", 0.5, 1, nil, nil, nil, nil}}))
	}
	if err := errors.Join(err, w.Close(Manifest{})); err != nil {
		t.Fatal(err)
	}
	return dir, rows
}

// TestAxes checks that every table has one column per axis with the configuration's position,
// and that tables are read as they were written.
func TestAxes(t *testing.T) {
	t.Parallel()
	for _, form := range []Tables{Both, CSV, Parquet} {
		dir, want := swept(t, form)
		d, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := collect(t, d.Jobs(nil, nil)); !reflect.DeepEqual(got, want) {
			t.Errorf("%v: %+v, want %+v", form, got, want)
		}
		if prices := collect(t, d.Prices(nil)); len(prices) != 3 || prices[2].Configuration != "a@2e1,high" {
			t.Errorf("%v: prices %+v", form, prices)
		}
		metrics, err := d.Metrics()
		if err != nil || len(metrics) != 3 || *metrics[2].Value != 1 {
			t.Errorf("%v: metrics %+v, %v", form, metrics, err)
		}
		if s, err := d.Summary(); err != nil || len(s) != 3 || *s[2].Mean != 0.5 {
			t.Errorf("%v: summary %+v, %v", form, s, err)
		}
		if c, err := d.Curve(); err != nil || len(c) != 3 {
			t.Errorf("%v: curve %+v, %v", form, c, err)
		}
		for name, columns := range d.Manifest.Columns {
			path := filepath.Join(dir, name)
			if filepath.Ext(name) == parquetKind {
				checkAxes(t, path)
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(string(text)), "\n")
			if !strings.HasSuffix(lines[0], ",hosts_count,work_axis") || columns[len(columns)-1].Type != "text" || columns[len(columns)-2].Type != "number" {
				t.Errorf("%s: header %s, columns %+v", name, lines[0], columns)
			}
			if first, last := lines[1], lines[len(lines)-1]; !strings.HasSuffix(first, ",10,low") || !strings.HasSuffix(last, ",20,high") {
				t.Errorf("%s:\n%s\n%s", name, first, last)
			}
		}
	}
}

// checkAxes checks the last two columns of a Parquet file of swept, like any reader.
func checkAxes(t *testing.T, path string) {
	t.Helper()
	type row struct {
		Configuration string  `parquet:"configuration"`
		Hosts         float64 `parquet:"hosts_count"`
		Work          string  `parquet:"work_axis"`
	}
	rows, err := parquet.ReadFile[row](path)
	if err != nil {
		t.Fatal(path, err)
	}
	for _, r := range rows {
		if want := map[string]row{"a@10,low": {"", 10, "low"}, "a@10,high": {"", 10, "high"}, "a@2e1,high": {"", 20, "high"}}[r.Configuration]; r.Hosts != want.Hosts || r.Work != want.Work {
			t.Errorf("%s: %+v", path, r)
		}
	}
}

// TestFormat3 checks that metrics of earlier formats can be read from CSV and Parquet,
// without trials.
func TestFormat3(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	w := parquet.NewGenericWriter[metric3](&packed)
	_, err := w.Write([]metric3{{"c", "cac", 0, "violations", new(0.01)}, {"c", "cac", 1, "violations", nil}})
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	want := []Metric{{"c", "cac", 0, "violations", new(0.01), nil}, {"c", "cac", 1, "violations", nil, nil}}
	for name, text := range map[string][]byte{
		"metrics.csv":     []byte("configuration,admission,replication,metric,value\nc,cac,0,violations,0.01\nc,cac,1,violations,\n"),
		"metrics.parquet": packed.Bytes(),
	} {
		for version := 1; version <= 3; version++ {
			d := &Dir{Path: t.TempDir(), unchecked: true, Manifest: Manifest{Format: version, Outputs: map[string]Output{name: {}}}}
			if err := os.WriteFile(d.file(name), text, 0o644); err != nil {
				t.Fatal(err)
			}
			if got, err := d.Metrics("violations"); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s of format %d: %+v, %v, want %+v", name, version, got, err, want)
			}
		}
	}
}

// TestOlderFormats checks that Parquet files of formats 2 and 3 can be read. Neither has
// penalty_owed, and in format 2 all jobs have an estimate.
func TestOlderFormats(t *testing.T) {
	t.Parallel()
	for _, format := range []int{2, 3} {
		var fields []reflect.StructField
		for _, f := range reflect.VisibleFields(reflect.TypeFor[Job]()) {
			if f.Name == "Estimate" && format == 2 {
				f.Type, f.Tag = f.Type.Elem(), `parquet:"estimate,split"`
			}
			if f.Name != "PenaltyOwed" {
				fields = append(fields, f)
			}
		}
		old := reflect.New(reflect.StructOf(fields)).Elem()
		var file bytes.Buffer
		w := parquet.NewWriter(&file, parquet.SchemaOf(old.Interface()))
		for i := range jobs {
			row := reflect.ValueOf(jobs[i])
			for k := range fields {
				if fields[k].Name == "Estimate" && format == 2 {
					old.Field(k).SetFloat(float64(i))
					continue
				}
				old.Field(k).Set(row.FieldByName(fields[k].Name))
			}
			if err := w.Write(old.Interface()); err != nil {
				t.Fatal(err)
			}
		}
		d := &Dir{Path: t.TempDir(), unchecked: true, Manifest: Manifest{Format: format, Outputs: map[string]Output{"jobs.parquet": {}}}}
		if err := errors.Join(w.Close(), os.WriteFile(d.file("jobs.parquet"), file.Bytes(), 0o644)); err != nil {
			t.Fatal(err)
		}
		got := collect(t, d.Jobs(nil, nil))
		if len(got) != len(jobs) {
			t.Fatalf("format %d: %d rows, want %d", format, len(got), len(jobs))
		}
		for i, want := range jobs {
			if want.PenaltyOwed = nil; format == 2 {
				want.Estimate = new(float64(i))
			}
			if !reflect.DeepEqual(got[i], want) {
				t.Errorf("format %d, row %d: %+v, want %+v", format, i+1, got[i], want)
			}
		}
	}
}

// TestFormat1 checks that jobs of the oldest format can be read from its CSV and Parquet
// files.
func TestFormat1(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := &Dir{Path: dir, unchecked: true, Manifest: Manifest{Format: 1, Outputs: map[string]Output{"jobs.csv": {}}}}
	text, err := os.ReadFile("testdata/format1.csv")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "jobs.csv"), text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	got := collect(t, d.Jobs(nil, nil))
	if len(got) != 3 || *got[0].Finish != 312.5 || got[0].Share != nil || got[0].Bid != nil || got[1].Start != nil || got[2].User != `=u,"2"` {
		t.Errorf("%+v", got)
	}
	tab := newTable[job1]("jobs", nil, parquetKind)
	b := make(Block)
	err = errors.Join(tab.append([]job1{{Configuration: "a", Job: "7", Finish: new(2.5), Paid: new(Money(3))}}), tab.take(b), os.WriteFile(filepath.Join(dir, "jobs.parquet"), b["jobs.parquet"], 0o644))
	if err != nil {
		t.Fatal(err)
	}
	d.Manifest.Outputs["jobs.parquet"] = Output{}
	if got := collect(t, d.Jobs(nil, nil)); len(got) != 1 || got[0].Job != "7" || *got[0].Finish != 2.5 || *got[0].Paid != 3 {
		t.Errorf("%+v", got)
	}
}
