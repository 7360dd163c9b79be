package results

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestDraftAppend checks that results have the same bytes whether the rows of a unit stay in
// memory until the end of the unit or are appended when they fill groups. In the second case,
// the unit must use little memory.
func TestDraftAppend(t *testing.T) {
	t.Parallel()
	units, err := OpenUnits(filepath.Join(t.TempDir(), "units"), Plan{}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer units.Close()
	written := func(axes Axes, appends bool) map[string]Output {
		d, err := units.Draft("0-0-1")
		if err != nil {
			t.Fatal(err)
		}
		e, most := NewEncoder(Both, axes), 0
		for from := 0; from < rowsPerGroup+5000; from += rowsPerWrite {
			rows := make([]Job, rowsPerWrite)
			for i := range rows {
				rows[i] = jobs[(from+i)%len(jobs)]
				rows[i].Configuration, rows[i].Job = "c@"+strconv.Itoa(1+i%2), strconv.Itoa(from+i)
			}
			err = errors.Join(err, e.Jobs(rows))
			if from < rowsPerGroup {
				err = errors.Join(err, e.Prices(make([]Price, rowsPerWrite)))
			}
			if appends {
				b, wrong := e.Full()
				err = errors.Join(err, wrong, d.Append(b))
			}
		}
		b, wrong := e.Block()
		for _, rows := range b {
			most = max(most, len(rows))
		}
		if err := errors.Join(err, wrong, d.Write(&Unit{Block: b, Values: []float64{1}})); err != nil {
			t.Fatal(err)
		}
		if appends && axes == nil && most > 1<<20 {
			t.Errorf("%d bytes were kept", most)
		}
		unit, err := units.Read("0-0-1")
		if err != nil {
			t.Fatal(err)
		}
		w, err := Create(filepath.Join(t.TempDir(), "out"), Both, axes)
		if err := errors.Join(err, w.Unit("0-0-1", unit, units.Dir), w.Close(Manifest{})); err != nil {
			t.Fatal(err)
		}
		files, err := outputs(w.dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	var load Axes
	load.Axis("load", []string{"1", "2"})
	for _, axes := range []Axes{nil, load} {
		if kept, appended := written(axes, false), written(axes, true); !maps.Equal(kept, appended) {
			t.Errorf("axes %v: files %v, and %v where rows were appended", axes, kept, appended)
		}
	}
}

// TestUnitDamaged checks that a change to any byte of a unit's tables causes an error that
// names the file. This must hold for tables that are read at once, and for long texts, which
// are read when units are combined.
func TestUnitDamaged(t *testing.T) {
	t.Parallel()
	units, err := OpenUnits(filepath.Join(t.TempDir(), "units"), Plan{}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer units.Close()
	rows := make([]Job, 10_000)
	for i := range rows {
		rows[i] = jobs[i%len(jobs)]
	}
	e := NewEncoder(Both, nil)
	err = e.Jobs(rows)
	b, wrong := e.Block()
	d, failed := units.Draft("0-0-1")
	if err := errors.Join(err, wrong, failed, d.Write(&Unit{Block: b, Values: []float64{1}})); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(units.Dir, "0-0-1"+unitKind)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, some := range map[string][]byte{"jobs.csv": b["jobs.csv"], "jobs.parquet": b["jobs.parquet"]} {
		harmed := bytes.Clone(whole)
		harmed[bytes.Index(harmed, some)+len(some)/2] ^= 1
		if err := os.WriteFile(path, harmed, 0o644); err != nil {
			t.Fatal(err)
		}
		unit, err := units.Read("0-0-1")
		if long := name == "jobs.csv"; long != (err == nil) {
			t.Errorf("%s is read with the unit: %t (%v)", name, err != nil, err)
		}
		if err == nil {
			w, wrong := Create(filepath.Join(t.TempDir(), "out"), Both, nil)
			if wrong != nil {
				t.Fatal(wrong)
			}
			err = w.Unit("0-0-1", unit, units.Dir)
			w.Abort()
		}
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), name) {
			t.Errorf("a bit of %s: %v", name, err)
		}
	}
}
