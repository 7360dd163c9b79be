package results

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A csvWriter encodes rows as CSV, without a header.
type csvWriter struct {
	cols   []Column
	text   bytes.Buffer
	out    *csv.Writer // writer to text, which cannot fail
	record []string
	taken  bool // whether text has been passed to a block
}

func newCSVWriter(cols []Column) *csvWriter {
	c := &csvWriter{cols: cols}
	c.out = csv.NewWriter(&c.text)
	return c
}

// write appends a checked row and its axis cells.
func (c *csvWriter) write(row reflect.Value, along []string) {
	c.record = append(appendTexts(c.record[:0], c.cols, row), along...)
	c.out.Write(c.record)
}

// take returns the text written so far. The next row starts a new one.
func (c *csvWriter) take() []byte {
	c.out.Flush()
	c.taken = true
	return c.text.Bytes()
}

// appendTexts appends the text of each cell of a row. The text is empty for a cell that does
// not apply.
func appendTexts(record []string, cols []Column, row reflect.Value) []string {
	for i := range cols {
		text := ""
		if cell, ok := cols[i].cell(row); ok {
			text = string(appendCell(nil, cols[i].kind, cell))
		}
		record = append(record, text)
	}
	return record
}

// Texts yields the column names of rows and then the cells of each row as text. It stops after
// an error.
func Texts[R any](rows iter.Seq2[R, error]) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		cols := columns[R]()
		if !yield(namesOf(cols), nil) {
			return
		}
		for row, err := range rows {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(appendTexts(nil, cols, reflect.ValueOf(row)), nil) {
				return
			}
		}
	}
}

// header returns the header line of a CSV file.
func header(cols []Column) []byte { return []byte(strings.Join(namesOf(cols), ",") + "\n") }

func namesOf(cols []Column) (names []string) {
	for _, c := range cols {
		names = append(names, c.Name)
	}
	return names
}

// JobsHeader returns the first line of jobs.csv without a sweep.
func JobsHeader() []byte { return header(columns[Job]()) }

// appendCell appends the text of a cell. Numbers are written in the shortest form that parses
// to the same number. A text starts with an additional apostrophe if a spreadsheet would run
// it as a formula, or if it already starts with an apostrophe.
func appendCell(b []byte, k cellKind, v reflect.Value) []byte {
	switch k {
	case integer:
		return strconv.AppendInt(b, v.Int(), 10)
	case number:
		return strconv.AppendFloat(b, v.Float(), 'g', -1, 64)
	case money:
		return Money(v.Int()).append(b)
	case truth:
		return strconv.AppendBool(b, v.Bool())
	}
	return append(b, SafeText(v.String())...)
}

// SafeText returns s as a CSV cell that spreadsheets do not interpret as a formula. If s
// begins with one of = + - @ ', it gets a leading apostrophe.
func SafeText(s string) string {
	if s != "" && strings.IndexByte("=+-@'", s[0]) >= 0 {
		return "'" + s
	}
	return s
}

// readCSV yields the rows of a table from a file that also has the columns of axes. Errors
// state the file name, the row and the column. The header is row 1.
func readCSV[R any](name string, r io.Reader, axes Axes) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		var none R
		cols := columns[R]()
		all := append(slices.Clip(cols), axes...)
		in := csv.NewReader(r)
		in.ReuseRecord = true
		in.FieldsPerRecord = len(all)
		for n := 1; ; n++ {
			record, err := in.Read()
			if err == io.EOF && n > 1 {
				return
			}
			if err == io.EOF {
				err = errors.New("empty: want a header")
			}
			if errors.Is(err, csv.ErrFieldCount) {
				err = fmt.Errorf("%d cells, want %d", len(record), len(all))
			}
			if err != nil {
				yield(none, fmt.Errorf("%s, row %d: %w", name, n, err))
				return
			}
			if n == 1 {
				if err := checkHeader(all, record); err != nil {
					yield(none, fmt.Errorf("%s, row 1: %w", name, err))
					return
				}
				continue
			}
			var row R
			if err := parseRow(cols, record, reflect.ValueOf(&row).Elem()); err != nil {
				yield(none, fmt.Errorf("%s, row %d, %w", name, n, err))
				return
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

func checkHeader(cols []Column, record []string) error {
	for i, c := range cols {
		if record[i] != c.Name {
			return fmt.Errorf("column %d is %q, want %q", i+1, record[i], c.Name)
		}
	}
	return nil
}

func parseRow(cols []Column, record []string, row reflect.Value) error {
	for i, c := range cols {
		v, s := row.Field(i), record[i]
		if c.Nullable {
			if s == "" {
				continue
			}
			v.Set(reflect.New(v.Type().Elem()))
			v = v.Elem()
		}
		if err := parseCell(c, s, v); err != nil {
			return fmt.Errorf("column %s: %w", c.Name, err)
		}
	}
	return nil
}

func parseCell(c Column, s string, v reflect.Value) error {
	switch c.kind {
	case integer:
		n, err := strconv.ParseInt(s, 10, strconv.IntSize)
		if err != nil {
			return fmt.Errorf("%.40q, want an integer", s)
		}
		v.SetInt(n)
	case number:
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || hexadecimal(s) {
			return fmt.Errorf("%.40q, want a finite number", s)
		}
		v.SetFloat(x)
	case money:
		m, err := parseMoney(s)
		if err != nil {
			return err
		}
		v.SetInt(int64(m))
	case truth:
		if s != "true" && s != "false" {
			return fmt.Errorf("%.40q, want true or false", s)
		}
		v.SetBool(s == "true")
	default:
		if plain := strings.TrimPrefix(s, "'"); SafeText(plain) == s {
			s = plain
		} else {
			return fmt.Errorf("%.40q, want an apostrophe before = + - @ and ' only", s)
		}
		if err := checkText(s); err != nil {
			return err
		}
		v.SetString(s)
	}
	return nil
}

// hexadecimal reports whether the number s is written in a form that other readers may not
// support.
func hexadecimal(s string) bool { return strings.ContainsAny(s, "xX_") }
