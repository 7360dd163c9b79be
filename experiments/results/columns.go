package results

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Column describes one column of a table.
type Column struct {
	Name     string `json:"name"`
	Type     string `json:"type"` // text, integer, number, money or truth
	Nullable bool   `json:"nullable,omitempty"`
	Doc      string `json:"doc"`

	kind  cellKind // corresponds to Type
	field int      // index of the field in the type of the row
}

// A cellKind is a type of table cell.
type cellKind uint8

const (
	text cellKind = iota
	integer
	number
	money
	truth
)

var kinds = [...]string{text: "text", integer: "integer", number: "number", money: "money", truth: "truth"}

// columns returns the columns of row type R, in order.
func columns[R any]() []Column {
	t := reflect.TypeFor[R]()
	cols := make([]Column, t.NumField())
	for i := range cols {
		f := t.Field(i)
		c := &cols[i]
		c.Name, _, _ = strings.Cut(f.Tag.Get("parquet"), ",")
		c.Doc, c.field = f.Tag.Get("doc"), i
		ft := f.Type
		if ft.Kind() == reflect.Pointer {
			c.Nullable, ft = true, ft.Elem()
		}
		switch {
		case ft == reflect.TypeFor[Money]():
			c.kind = money
		case ft.Kind() == reflect.String:
			c.kind = text
		case ft.Kind() == reflect.Int:
			c.kind = integer
		case ft.Kind() == reflect.Float64:
			c.kind = number
		case ft.Kind() == reflect.Bool:
			c.kind = truth
		default:
			panic("results: column " + c.Name + " is a " + ft.String())
		}
		c.Type = kinds[c.kind]
	}
	return cols
}

// cell returns the value of column c in row. checkRow returns an error that names the first
// column of row with an invalid value.
func (c *Column) cell(row reflect.Value) (v reflect.Value, ok bool) {
	v = row.Field(c.field)
	if !c.Nullable {
		return v, true
	}
	return v.Elem(), !v.IsNil()
}

// checkRow returns an error that names a column of row with an invalid value. The columns in
// cols must be the columns of the row's type.
func checkRow(cols []Column, row reflect.Value) error {
	for i := range cols {
		c := &cols[i]
		cell, ok := c.cell(row)
		if !ok {
			continue
		}
		switch c.kind {
		case number:
			if x := cell.Float(); math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("column %s: found %v, want a finite number, or null if no number applies", c.Name, x)
			}
		case money:
			if m := Money(cell.Int()); m <= -maxMoney || m >= maxMoney {
				return fmt.Errorf("column %s: found $%v, want less than 10^12 dollars", c.Name, m)
			}
		case text:
			if err := checkText(cell.String()); err != nil {
				return fmt.Errorf("column %s %w", c.Name, err)
			}
		}
	}
	return nil
}

// checkText rejects characters that a terminal or a spreadsheet may interpret as commands.
func checkText(s string) error {
	plain := true
	for i := 0; i < len(s) && plain; i++ {
		plain = s[i] >= ' ' && s[i] < 0x7f
	}
	if plain {
		return nil
	}
	if !utf8.ValidString(s) {
		return fmt.Errorf("%q is not UTF-8", s)
	}
	for _, r := range s {
		if unicode.IsControl(r) {
			return fmt.Errorf("%q holds control character %U", s, r)
		}
	}
	return nil
}
