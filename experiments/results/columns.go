package results

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"
)

// A Column says what one column of a table holds.
type Column struct {
	Name     string `json:"name"`
	Type     string `json:"type"` // text, integer, number, money or truth
	Nullable bool   `json:"nullable,omitempty"`
	Doc      string `json:"doc"`

	kind   cellKind // as Type says
	offset uintptr  // in a row
}

// A cellKind is a type of cells.
type cellKind uint8

const (
	text cellKind = iota
	integer
	number
	money
	truth
)

var kinds = [...]string{text: "text", integer: "integer", number: "number", money: "money", truth: "truth"}

// columns returns the columns of row type R in order.
func columns[R any]() []Column {
	t := reflect.TypeFor[R]()
	cols := make([]Column, t.NumField())
	for i := range cols {
		f := t.Field(i)
		c := &cols[i]
		c.Name, _, _ = strings.Cut(f.Tag.Get("parquet"), ",")
		c.Doc, c.offset = f.Tag.Get("doc"), f.Offset
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

// in returns where the value of c is in a row, nil for null. It is read as its kind says:
// by reflection an eighth longer is spent on all that is done with a row.
func (c *Column) in(row unsafe.Pointer) unsafe.Pointer {
	cell := unsafe.Add(row, c.offset)
	if c.Nullable {
		return *(*unsafe.Pointer)(cell)
	}
	return cell
}

// checkRow returns an error naming the column of row that no table may hold; cols are
// those of R. It keeps in checked the text of each column that it has found in order: the
// next row has the same in most of them.
func checkRow[R any](cols []Column, checked []string, row *R) error {
	for i := range cols {
		c := &cols[i]
		cell := c.in(unsafe.Pointer(row))
		if cell == nil {
			continue
		}
		switch c.kind {
		case number:
			if x := *(*float64)(cell); math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("column %s is %v: want a finite number, or null where none applies", c.Name, x)
			}
		case money:
			if m := *(*Money)(cell); m <= -maxMoney || m >= maxMoney {
				return fmt.Errorf("column %s is $%v: want less than 10^12 dollars", c.Name, m)
			}
		case text:
			s := *(*string)(cell)
			if s == checked[i] {
				continue
			}
			if err := checkText(s); err != nil {
				return fmt.Errorf("column %s %w", c.Name, err)
			}
			checked[i] = s
		}
	}
	return nil
}

// checkText refuses what a terminal or a spreadsheet may act upon.
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
