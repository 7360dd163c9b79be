package results

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Column says what one column of a table holds.
type Column struct {
	Name     string `json:"name"`
	Type     string `json:"type"` // text, integer, number, money or truth
	Nullable bool   `json:"nullable,omitempty"`
	Doc      string `json:"doc"`
}

// columns returns the columns of row type R in order.
func columns[R any]() []Column {
	t := reflect.TypeFor[R]()
	cols := make([]Column, t.NumField())
	for i := range cols {
		f := t.Field(i)
		c := &cols[i]
		c.Name, _, _ = strings.Cut(f.Tag.Get("parquet"), ",")
		c.Doc = f.Tag.Get("doc")
		ft := f.Type
		if ft.Kind() == reflect.Pointer {
			c.Nullable, ft = true, ft.Elem()
		}
		switch {
		case ft == reflect.TypeFor[Money]():
			c.Type = "money"
		case ft.Kind() == reflect.String:
			c.Type = "text"
		case ft.Kind() == reflect.Int:
			c.Type = "integer"
		case ft.Kind() == reflect.Float64:
			c.Type = "number"
		case ft.Kind() == reflect.Bool:
			c.Type = "truth"
		default:
			panic("results: column " + c.Name + " is a " + ft.String())
		}
	}
	return cols
}

// checkRow returns an error naming the column of row that no table may hold.
func checkRow(cols []Column, row reflect.Value) error {
	for i, c := range cols {
		v := row.Field(i)
		if c.Nullable {
			if v.IsNil() {
				continue
			}
			v = v.Elem()
		}
		switch c.Type {
		case "number":
			if x := v.Float(); math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("column %s is %v: want a finite number, or null where none applies", c.Name, x)
			}
		case "money":
			if m := Money(v.Int()); m <= -maxMoney || m >= maxMoney {
				return fmt.Errorf("column %s is $%v: want less than 10^12 dollars", c.Name, m)
			}
		case "text":
			if err := checkText(v.String()); err != nil {
				return fmt.Errorf("column %s %w", c.Name, err)
			}
		}
	}
	return nil
}

// checkText refuses what a terminal or a spreadsheet may act upon.
func checkText(s string) error {
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
