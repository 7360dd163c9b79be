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
	"unicode/utf8"
	"unsafe"
)

// A csvWriter encodes rows of type R as CSV without a header, as encoding/csv does: each
// cell goes where it stays, at a third of the cost (BenchmarkJobs).
type csvWriter[R any] struct {
	cols    []Column
	text    []byte
	taken   bool         // text is a block's
	numbers [512]numeral // by hash of the number
}

// A numeral is the text of a number that was written before: most of a row are in the rows
// of other policies too, or twice in it (BenchmarkJobs).
type numeral struct {
	bits uint64
	size int8 // 0 if there is none
	text [24]byte
}

// appendNumber appends the shortest form of x that reads back.
func (c *csvWriter[R]) appendNumber(b []byte, x float64) []byte {
	bits := math.Float64bits(x)
	n := &c.numbers[bits*0x9e3779b97f4a7c15>>(64-9)]
	if n.bits != bits || n.size == 0 {
		n.bits, n.size = bits, int8(len(strconv.AppendFloat(n.text[:0], x, 'g', -1, 64)))
	}
	return append(b, n.text[:n.size]...)
}

func newCSVWriter[R any]() *csvWriter[R] { return &csvWriter[R]{cols: columns[R]()} }

// write appends a row that has been checked, and behind it the cells of axes.
func (c *csvWriter[R]) write(row *R, along []byte) {
	b := c.text
	for i := range c.cols {
		if i > 0 {
			b = append(b, ',')
		}
		switch cell, kind := c.cols[i].in(unsafe.Pointer(row)), c.cols[i].kind; {
		case cell == nil:
		case kind == number:
			b = c.appendNumber(b, *(*float64)(cell))
		default:
			b = appendCell(b, kind, cell)
		}
	}
	c.text = append(append(b, along...), '\n')
}

// header returns the first line of a CSV file.
func header(cols []Column) []byte {
	var line []byte
	for i, c := range cols {
		if i > 0 {
			line = append(line, ',')
		}
		line = append(line, c.Name...)
	}
	return append(line, '\n')
}

// appendCell appends the text of a cell that is no number to b. Text that a spreadsheet
// would run as a formula gets a leading apostrophe, as does text that has one.
func appendCell(b []byte, k cellKind, cell unsafe.Pointer) []byte {
	switch k {
	case integer:
		return strconv.AppendInt(b, int64(*(*int)(cell)), 10)
	case money:
		return (*(*Money)(cell)).append(b)
	case truth:
		return strconv.AppendBool(b, *(*bool)(cell))
	}
	s := SafeText(*(*string)(cell))
	if s == "" || strings.IndexByte(s, ',') < 0 && strings.IndexByte(s, '"') < 0 && s[0] > ' ' && s[0] < utf8.RuneSelf && s != `\.` {
		return append(b, s...)
	}
	return appendQuoted(b, s)
}

// appendQuoted appends a cell that may have to stand between quotes.
func appendQuoted(b []byte, s string) []byte {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.Write([]string{s, ""}) // to memory; a cell alone that is empty would be quoted
	w.Flush()
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte(",\n"))...)
}

// SafeText returns s as a CSV cell that no spreadsheet takes for a formula: a
// text that begins with one of = + - @ ' gets an apostrophe before it.
func SafeText(s string) string {
	if s != "" && strings.IndexByte("=+-@'", s[0]) >= 0 {
		return "'" + s
	}
	return s
}

// readCSV yields the rows of a table, which has the columns of axes, too; name is for
// errors, which name the row (the header is row 1) and the column.
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
			return fmt.Errorf("%.40q, want an apostrophe before = + - @ and ' alone", s)
		}
		if err := checkText(s); err != nil {
			return err
		}
		v.SetString(s)
	}
	return nil
}

// hexadecimal reports whether s is a number in a form that other readers may not know.
func hexadecimal(s string) bool { return strings.ContainsAny(s, "xX_") }
