package results

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// A Dir is a complete results directory.
type Dir struct {
	Path     string
	Manifest Manifest
	digest   string // SHA-256 of the manifest

	unchecked bool // see [Dir.Unchecked]
}

// Open reads the manifest of the results in dir. The error is [ErrNotResults] if dir has no
// results. A newer format is also an error.
func Open(dir string) (*Dir, error) {
	m, digest, err := readManifest(dir)
	if err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	return &Dir{Path: dir, Manifest: m, digest: digest}, nil
}

func (d *Dir) file(name string) string { return filepath.Join(d.Path, filepath.FromSlash(name)) }

// Jobs yields the rows of jobs.parquet, in order. If that file does not exist, Jobs reads
// jobs.csv. It stops after an error. If wanted is not nil, Jobs may skip groups of rows that
// contain none of the wanted replications. If row is not nil, Jobs sets *row to the number of
// each row, counted from 1.
func (d *Dir) Jobs(wanted func(replication int) bool, row *int) iter.Seq2[Job, error] {
	if d.Manifest.Format == 1 {
		return widened[job1, Job](rowsOf[job1](d, "jobs", wanted, row))
	}
	if d.Manifest.Format < 4 {
		return widened[job3, Job](rowsOf[job3](d, "jobs", wanted, row))
	}
	return rowsOf[Job](d, "jobs", wanted, row)
}

// Prices yields the rows of prices.parquet or, if that file does not exist, of prices.csv. It
// has the same parameters as Jobs.
func (d *Dir) Prices(wanted func(replication int) bool) iter.Seq2[Price, error] {
	return rowsOf[Price](d, "prices", wanted, nil)
}

// File returns the name of a table's file. For tables with several forms, such as jobs or
// prices, it prefers CSV to Parquet. If there is no file, it returns an empty string.
func (d *Dir) File(table string) string {
	for _, kind := range []string{csvKind, parquetKind} {
		if _, ok := d.Manifest.Outputs[table+kind]; ok {
			return table + kind
		}
	}
	return ""
}

// axes returns the axis columns of a file. The axis columns follow the columns of the table
// itself, whose number is own.
func (d *Dir) axes(file string, own int) Axes {
	if all := d.Manifest.Columns[file]; len(all) > own {
		return all[own:]
	}
	return nil
}

// rowsOf yields the rows of a table from its Parquet file or, without one, from its CSV
// file.
func rowsOf[R any](d *Dir, table string, wanted func(replication int) bool, row *int) iter.Seq2[R, error] {
	if row == nil {
		row = new(int)
	}
	_, packed := d.Manifest.Outputs[table+parquetKind]
	own := len(columns[R]())
	switch {
	case packed:
		return readParquet[R](d, table+parquetKind, d.axes(table+parquetKind, own), wanted, row)
	case d.File(table) != "":
		return streamTable[R](d, table+csvKind, max(maxTable, d.Manifest.Outputs[table+csvKind].Size), d.axes(table+csvKind, own), row)
	}
	return func(yield func(R, error) bool) {
		var none R
		yield(none, fmt.Errorf("read results: %s contains no table of %s; run the experiment again with --tables both", d.Path, table))
	}
}

// streamTable yields the rows of a CSV file. The file must not be larger than the given
// size.
func streamTable[R any](d *Dir, name string, most int64, axes Axes, row *int) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		f, err := d.open(name, most)
		if err != nil {
			var none R
			yield(none, fmt.Errorf("read results: %w", err))
			return
		}
		defer f.Close()
		readCSV[R](d.file(name), f, axes)(func(r R, err error) bool { *row++; return yield(r, err) })
	}
}

// EachMetric yields the rows of the named metrics for every replication, in order. If no
// metric is named, it yields all metrics. It stops after an error. Errors of this and the next
// three methods state the file, the row and the column.
func (d *Dir) EachMetric(names ...string) iter.Seq2[Metric, error] {
	return func(yield func(Metric, error) bool) {
		rows := rowsOf[Metric](d, "metrics", nil, nil)
		if d.Manifest.Format <= 3 {
			rows = widened[metric3, Metric](rowsOf[metric3](d, "metrics", nil, nil))
		}
		for row, err := range rows {
			if (err != nil || len(names) == 0 || slices.Contains(names, row.Metric)) && !yield(row, err) {
				return
			}
		}
	}
}

// Metrics returns the rows that [Dir.EachMetric] yields.
func (d *Dir) Metrics(names ...string) (rows []Metric, err error) {
	for row, err := range d.EachMetric(names...) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// Summary returns the rows of summary.csv.
func (d *Dir) Summary() ([]Summary, error) { return readTable[Summary](d, "summary.csv") }

// Curve returns the rows of curve.csv.
func (d *Dir) Curve() ([]Point, error) { return readTable[Point](d, "curve.csv") }

func readTable[R any](d *Dir, name string) (rows []R, err error) {
	for row, err := range streamTable[R](d, name, maxTable, d.axes(name, len(columns[R]())), new(int)) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func readParquet[R any](d *Dir, name string, axes Axes, wanted func(replication int) bool, row *int) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		f, err := openParquet(d, name, append(slices.Clip(columns[R]()), axes...))
		if err != nil {
			var none R
			yield(none, fmt.Errorf("read results: %w", err))
			return
		}
		defer f.Close()
		unpack[R](d.file(name), f, wanted, row)(yield)
	}
}

// unpack yields the rows of a Parquet file with the given name in messages.
func unpack[R any](name string, in io.ReaderAt, wanted func(replication int) bool, row *int) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		var none R
		cols := columns[R]()
		var r *parquet.GenericReader[R]
		var groups []rowGroup
		err := undamaged(func() (err error) {
			r = parquet.NewGenericReader[R](in)
			groups, err = groupsOf(r.File(), wanted)
			return err
		})
		if err != nil {
			yield(none, fmt.Errorf("%s: %w", name, err))
			return
		}
		defer undamaged(r.Close)
		buf := make([]R, 1024)
		for _, g := range groups {
			*row = int(g.from)
			err := undamaged(func() error { return r.SeekToRow(g.from) })
			for left := g.rows; left > 0 && err == nil; {
				clear(buf) // clear the buffer, because the reader reuses the memory to which pointers refer
				n := 0
				err = undamaged(func() (err error) { n, err = r.Read(buf[:min(left, int64(len(buf)))]); return err })
				if left -= int64(n); left == 0 && err == io.EOF {
					err = nil
				}
				for i := range buf[:n] {
					*row++
					if err := checkRow(cols, reflect.ValueOf(&buf[i]).Elem()); err != nil {
						yield(none, fmt.Errorf("%s, row %d, %w", name, *row, err))
						return
					}
					if !yield(buf[i], nil) {
						return
					}
				}
			}
			if err != nil {
				yield(none, fmt.Errorf("%s, after row %d: %w", name, *row, err))
				return
			}
		}
	}
}

// A rowGroup is the position of one group of rows.
type rowGroup struct{ from, rows int64 }

// groupsOf returns the groups of f that contain a wanted replication. It returns all groups
// if wanted is nil.
func groupsOf(f parquet.FileView, wanted func(replication int) bool) (groups []rowGroup, err error) {
	at := int64(0)
	for _, g := range f.RowGroups() {
		has := wanted == nil
		if !has {
			if has, err = hasReplication(g, wanted); err != nil {
				return nil, err
			}
		}
		if has {
			groups = append(groups, rowGroup{at, g.NumRows()})
		}
		at += g.NumRows()
	}
	return groups, nil
}

// columnOf returns the column of g that has the given name.
func columnOf(g parquet.RowGroup, name string) (parquet.ColumnChunk, error) {
	leaf, ok := g.Schema().Lookup(name)
	if !ok {
		return nil, fmt.Errorf("no column %s", name)
	}
	return g.ColumnChunks()[leaf.ColumnIndex], nil
}

// hasReplication reports whether g has a row of a wanted replication.
func hasReplication(g parquet.RowGroup, wanted func(replication int) bool) (has bool, err error) {
	c, err := columnOf(g, "replication")
	if err != nil {
		return false, err
	}
	pages := c.Pages()
	defer pages.Close()
	for !has {
		page, err := pages.ReadPage()
		if err == io.EOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		data := page.Data()
		for i, all := 0, data.Int64(); i < len(all) && !has; i++ {
			has = (i == 0 || all[i] != all[i-1]) && wanted(int(all[i]))
		}
		parquet.Release(page)
	}
	return has, nil
}

func openParquet(d *Dir, name string, cols []Column) (*os.File, error) {
	f, err := d.open(name, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	if err := undamaged(func() error { return checkParquet(f, cols) }); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", d.file(name), err)
	}
	return f, nil
}

func checkParquet(f *os.File, cols []Column) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if _, _, err := footerOf(f, info.Size()); err != nil {
		return err
	}
	p, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return err
	}
	fields := p.Schema().Fields()
	if len(fields) != len(cols) {
		return fmt.Errorf("%d columns, want %d", len(fields), len(cols))
	}
	for i, c := range cols {
		if got := fields[i]; got.Name() != c.Name || got.Optional() && !c.Nullable {
			return fmt.Errorf("column %d is %q, want %q", i+1, got.Name(), c.Name)
		}
	}
	return checkPages(f, info.Size(), p)
}

// In returns the results at path. If path is not a results directory, In returns the results
// in its subdirectories.
func In(path string) ([]*Dir, error) {
	dir, err := Open(path)
	if err == nil {
		return []*Dir{dir}, nil
	}
	if !errors.Is(err, ErrNotResults) {
		return nil, err
	}
	below, globErr := filepath.Glob(filepath.Join(path, "[^.]*", "manifest.json"))
	if globErr != nil || len(below) == 0 {
		return nil, err
	}
	var all []*Dir
	for _, m := range below {
		dir, err := Open(filepath.Dir(m))
		if err != nil {
			return nil, err
		}
		all = append(all, dir)
	}
	return all, nil
}
