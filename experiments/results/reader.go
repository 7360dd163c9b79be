package results

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// A Dir is a results directory that is complete.
type Dir struct {
	Path     string
	Manifest Manifest
	digest   string // of the manifest's file
}

// Open reads the manifest of the results in dir. The error is [ErrNotResults] if
// they are none; results of another format are an error too.
func Open(dir string) (*Dir, error) {
	m, digest, err := readManifest(dir)
	if err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	return &Dir{dir, m, digest}, nil
}

func (d *Dir) file(name string) string { return filepath.Join(d.Path, filepath.FromSlash(name)) }

// Jobs yields the rows of jobs.parquet, or else of jobs.csv, in order; after an error, no
// more.
func (d *Dir) Jobs() iter.Seq2[Job, error] {
	if d.Manifest.Format == 1 {
		return jobsOf1(d)
	}
	return rowsOf[Job](d, "jobs")
}

// Prices yields the rows of prices.parquet, or else of prices.csv, in order; after an
// error, no more.
func (d *Dir) Prices() iter.Seq2[Price, error] { return rowsOf[Price](d, "prices") }

// File returns the file of a table that may have several forms, jobs or prices: CSV if
// there is one; empty if none is kept.
func (d *Dir) File(table string) string {
	for _, kind := range []string{csvKind, parquetKind} {
		if _, ok := d.Manifest.Outputs[table+kind]; ok {
			return table + kind
		}
	}
	return ""
}

// axes returns the columns of a file behind the first so many, which are of its table.
func (d *Dir) axes(file string, own int) Axes {
	if all := d.Manifest.Columns[file]; len(all) > own {
		return all[own:]
	}
	return nil
}

// rowsOf yields the rows of a table in the form that there is, Parquet if both.
func rowsOf[R any](d *Dir, table string) iter.Seq2[R, error] {
	_, packed := d.Manifest.Outputs[table+parquetKind]
	own := len(columns[R]())
	switch {
	case packed:
		return readParquet[R](d.file(table+parquetKind), d.axes(table+parquetKind, own))
	case d.File(table) != "":
		return streamTable[R](d.file(table+csvKind), max(maxTable, d.Manifest.Outputs[table+csvKind].Size), d.axes(table+csvKind, own))
	}
	return func(yield func(R, error) bool) {
		var none R
		yield(none, fmt.Errorf("read results: %s keeps no table of %s: run it with --tables both", d.Path, table))
	}
}

// streamTable yields the rows of a CSV file of at most that many bytes.
func streamTable[R any](path string, most int64, axes Axes) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		f, err := openUpTo(path, most)
		if err != nil {
			var none R
			yield(none, fmt.Errorf("read results: %w", err))
			return
		}
		defer f.Close()
		readCSV[R](path, f, axes)(yield)
	}
}

// EachMetric yields the rows of those metrics of every replication, or of all if none is
// named, in order; after an error, no more. Errors of this and the next three name file,
// row and column.
func (d *Dir) EachMetric(names ...string) iter.Seq2[Metric, error] {
	return func(yield func(Metric, error) bool) {
		for row, err := range rowsOf[Metric](d, "metrics") {
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
	for row, err := range streamTable[R](d.file(name), maxTable, d.axes(name, len(columns[R]()))) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func readParquet[R any](path string, axes Axes) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		var none R
		cols := columns[R]()
		f, err := openParquet(path, append(slices.Clip(cols), axes...))
		if err != nil {
			yield(none, fmt.Errorf("read results: %w", err))
			return
		}
		defer f.Close()
		var r *parquet.GenericReader[R]
		if err := whole(func() error { r = parquet.NewGenericReader[R](f); return nil }); err != nil {
			yield(none, fmt.Errorf("%s: %w", path, err))
			return
		}
		defer whole(r.Close)
		buf := make([]R, 1024)
		for done := 0; ; {
			clear(buf) // the reader keeps what it finds behind a pointer
			n := 0
			err := whole(func() (err error) { n, err = r.Read(buf); return err })
			for i := range buf[:n] {
				if err := checkRow(cols, &buf[i]); err != nil {
					yield(none, fmt.Errorf("%s, row %d, %w", path, done+i+1, err))
					return
				}
				if !yield(buf[i], nil) {
					return
				}
			}
			done += n
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(none, fmt.Errorf("%s, after row %d: %w", path, done, err))
				return
			}
		}
	}
}

// openParquet opens path and checks that its columns are cols.
func openParquet(path string, cols []Column) (*os.File, error) {
	f, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	if err := whole(func() error { return checkParquet(f, cols) }); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

func checkParquet(f *os.File, cols []Column) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := checkFooter(f, info.Size()); err != nil {
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
		if got := fields[i]; got.Name() != c.Name || got.Optional() != c.Nullable {
			return fmt.Errorf("column %d is %q, want %q", i+1, got.Name(), c.Name)
		}
	}
	return checkPages(f, info.Size(), p)
}

// In returns the results that path is, or else those one level below it.
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
