package results

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"

	"github.com/parquet-go/parquet-go"
)

// The two sizes are part of the format, since the bytes depend on them: the rows
// handed to the Parquet writer at once, which decide where its pages end, and the
// rows of a group, which bound what it keeps in memory.
const (
	rowsPerWrite = 1 << 10
	rowsPerGroup = 1 << 16
)

// A table appends rows of type R to name.parquet, name.csv, or both.
type table[R any] struct {
	name    string
	cols    []Column
	rows    int // written so far
	csv     *csvWriter[R]
	parquet *parquet.GenericWriter[R]
	waiting []R // to be handed to parquet
	files   []*os.File
	buffers []*bufio.Writer
}

// newTable creates the table's files in dir; each of kinds is .csv or .parquet.
func newTable[R any](dir, name string, kinds ...string) (*table[R], error) {
	t := &table[R]{name: name, cols: columns[R]()}
	for _, kind := range kinds {
		f, err := os.OpenFile(filepath.Join(dir, name+kind), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			t.abandon()
			return nil, err
		}
		b := bufio.NewWriterSize(f, 1<<16)
		t.files, t.buffers = append(t.files, f), append(t.buffers, b)
		if kind == ".parquet" {
			t.waiting = make([]R, 0, rowsPerWrite)
			t.parquet = parquet.NewGenericWriter[R](b,
				parquet.CreatedBy("bourse", "1", "results"), // no version of a library in the bytes
				parquet.MaxRowsPerRowGroup(rowsPerGroup))
			continue
		}
		if t.csv, err = newCSVWriter[R](b); err != nil {
			t.abandon()
			return nil, err
		}
	}
	return t, nil
}

// append writes rows, or none of them if one cannot be kept.
func (t *table[R]) append(rows []R) error {
	for i := range rows {
		if err := checkRow(t.cols, reflect.ValueOf(&rows[i]).Elem()); err != nil {
			return fmt.Errorf("%s, row %d: %w", t.name, t.rows+i+1, err)
		}
	}
	if t.csv != nil {
		for i := range rows {
			if err := t.csv.write(reflect.ValueOf(&rows[i]).Elem()); err != nil {
				return fmt.Errorf("write %s.csv: %w", t.name, err)
			}
		}
	}
	t.rows += len(rows)
	for t.parquet != nil && len(rows) > 0 {
		n := min(len(rows), rowsPerWrite-len(t.waiting))
		t.waiting = append(t.waiting, rows[:n]...)
		rows = rows[n:]
		if len(t.waiting) == rowsPerWrite {
			if err := t.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush hands the waiting rows to the Parquet writer.
func (t *table[R]) flush() error {
	if _, err := t.parquet.Write(t.waiting); err != nil {
		return fmt.Errorf("write %s.parquet: %w", t.name, err)
	}
	clear(t.waiting)
	t.waiting = t.waiting[:0]
	return nil
}

// close completes the files and makes them durable.
func (t *table[R]) close() error {
	var errs []error
	if t.csv != nil {
		errs = append(errs, t.csv.close())
	}
	if t.parquet != nil {
		errs = append(errs, t.flush(), t.parquet.Close())
	}
	for i, f := range t.files {
		errs = append(errs, t.buffers[i].Flush(), f.Sync(), f.Close())
	}
	t.files = nil
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close %s: %w", t.name, err)
	}
	return nil
}

// abandon closes the files as they are.
func (t *table[R]) abandon() {
	for _, f := range t.files {
		f.Close()
	}
	t.files = nil
}
