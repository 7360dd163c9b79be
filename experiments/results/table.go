package results

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// Both numbers are part of the format, because the bytes of a file depend on them. The first
// is the number of rows passed to the Parquet writer at once, which determines where pages
// end. The second is the maximum number of rows per group.
const (
	rowsPerWrite = 1 << 10
	rowsPerGroup = 1 << 16
)

// A table encodes rows of type R as name.parquet, as name.csv, or as both.
type table[R any] struct {
	name    string
	cols    []Column
	rows    int // number of rows since the last block
	csv     *csvWriter
	packed  bytes.Buffer
	codec   codec // codec of the field parquet
	parquet *parquet.GenericWriter[R]
	waiting []R // rows not yet passed to parquet
	along   *along
	taken   bool // whether packed has been passed to a block
}

// newTable returns a table without rows. Each kind is .csv or .parquet.
func newTable[R any](name string, axes Axes, kinds ...string) *table[R] {
	t := &table[R]{name: name, cols: columns[R](), along: &along{axes: axes}}
	for _, kind := range kinds {
		if kind == csvKind {
			t.csv = newCSVWriter(t.cols)
			continue
		}
		t.waiting, t.codec = make([]R, 0, rowsPerWrite), newCodec()
		t.pack()
	}
	return t
}

// pack starts a new Parquet file. It creates a new writer, because a reset writer loses the
// column names.
func (t *table[R]) pack() {
	t.packed.Reset()
	options := []parquet.WriterOption{
		parquet.CreatedBy("bourse", "1", "results"), // omits the version of the library from the file
		parquet.MaxRowsPerRowGroup(rowsPerGroup), parquet.Compression(t.codec),
		parquet.DataPageStatistics(false), // readers use the statistics of groups instead
	}
	for i := range t.cols {
		if c := &t.cols[i]; c.kind == text && !slices.Contains([]string{"configuration", "admission"}, c.Name) {
			options = append(options, parquet.SkipPageBounds(c.Name)) // bounds are useless for this column, because every group contains all of its values
		}
	}
	t.parquet = parquet.NewGenericWriter[R](&t.packed, options...)
	if len(t.along.axes) > 0 {
		t.along.pack(t.codec)
	}
}

// begin discards the rows that have been passed to a block.
func (t *table[R]) begin() {
	if t.taken {
		if t.taken = false; t.parquet != nil {
			t.pack()
		}
	}
	if t.csv != nil && t.csv.taken {
		t.csv.text.Reset()
		t.csv.taken = false
	}
}

// append encodes all the rows. If one row is invalid, it encodes none of them.
func (t *table[R]) append(rows []R) error {
	t.begin()
	for i := range rows {
		if err := checkRow(t.cols, reflect.ValueOf(&rows[i]).Elem()); err != nil {
			return fmt.Errorf("%s, row %d: %w", t.name, t.rows+i+1, err)
		}
	}
	if t.csv != nil {
		for i := range rows {
			t.csv.write(reflect.ValueOf(&rows[i]).Elem(), t.at(&rows[i]).text)
		}
	}
	t.rows += len(rows)
	for t.parquet != nil && len(rows) > 0 {
		if len(t.waiting) == 0 && len(rows) >= rowsPerWrite {
			if err := t.write(rows[:rowsPerWrite]); err != nil {
				return err
			}
			rows = rows[rowsPerWrite:]
			continue
		}
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

// at returns the axis cells of row. The first field of row is the configuration.
func (t *table[R]) at(row *R) cells {
	if len(t.along.axes) == 0 {
		return cells{}
	}
	return t.along.at(reflect.ValueOf(row).Elem().Field(0).String())
}

// flush passes the waiting rows to the Parquet writer.
func (t *table[R]) flush() error {
	err := t.write(t.waiting)
	clear(t.waiting)
	t.waiting = t.waiting[:0]
	return err
}

// write passes rows to the Parquet writer.
func (t *table[R]) write(rows []R) error {
	if _, err := t.parquet.Write(rows); err != nil {
		return fmt.Errorf("write %s.parquet: %w", t.name, err)
	}
	for i := range rows {
		if at := t.at(&rows[i]); len(at.row) > 0 {
			if _, err := t.along.rows.WriteRows([]parquet.Row{at.row}); err != nil {
				return fmt.Errorf("write %s.parquet: %w", t.name, err)
			}
		}
	}
	return nil
}

// full passes the encoded text to b. If the rows exactly fill groups, it also passes the
// Parquet form. If there are axes, it passes only the text, because the axis columns come
// after all groups of a block.
func (t *table[R]) full(b Block) error {
	if t.taken || t.rows == 0 || t.rows%rowsPerGroup != 0 || len(t.along.axes) > 0 {
		t.takeText(b)
		return nil
	}
	return t.take(b)
}

// take passes the encoded rows to b, as text without a header and as a complete Parquet
// file. The data are valid until the next row is appended.
func (t *table[R]) take(b Block) error {
	t.begin()
	t.takeText(b)
	t.rows, t.taken = 0, true
	if t.parquet != nil {
		if err := t.flush(); err != nil {
			return err
		}
		if err := t.parquet.Close(); err != nil {
			return fmt.Errorf("write %s.parquet: %w", t.name, err)
		}
		whole, err := t.packed.Bytes(), error(nil)
		if len(t.along.axes) > 0 {
			if err = t.along.rows.Close(); err == nil {
				whole, err = beside(whole, t.along.packed.Bytes())
			}
		}
		if err != nil {
			return fmt.Errorf("write %s.parquet: %w", t.name, err)
		}
		b[t.name+parquetKind] = whole
	}
	return nil
}

// takeText passes to b the text that was encoded since the last call.
func (t *table[R]) takeText(b Block) {
	if t.csv != nil && !t.csv.taken {
		b[t.name+csvKind] = t.csv.take()
	}
}
