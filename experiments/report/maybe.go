package report

import (
	"fmt"
	"math"
	"strconv"

	"github.com/invopop/jsonschema"
)

// A Maybe is a number that may be undefined. An undefined number is null in JSON and a dash
// in text.
type Maybe float64

// MarshalJSON implements [json.Marshaler].
func (x Maybe) MarshalJSON() ([]byte, error) {
	if !x.Exists() {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(x), 'g', -1, 64), nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (x *Maybe) UnmarshalJSON(text []byte) (err error) {
	number := math.NaN()
	if string(text) != "null" {
		number, err = strconv.ParseFloat(string(text), 64)
	}
	*x = Maybe(number)
	return err
}

// JSONSchema returns the JSON schema of a Maybe. The jsonschema package calls it for types
// with a custom JSON form.
func (Maybe) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "number"}, {Type: "null"}}}
}

// Exists reports whether x is a finite number.
func (x Maybe) Exists() bool { return !math.IsNaN(float64(x)) && !math.IsInf(float64(x), 0) }

// String formats x with at most six significant digits.
func (x Maybe) String() string {
	if !x.Exists() {
		return none
	}
	return strconv.FormatFloat(float64(x), 'g', 6, 64)
}

// Cells returns a table row of values. A float64 is formatted as a [Maybe], a [Cell] is not
// changed, and any other value is formatted by [fmt.Sprint].
func Cells(values ...any) []Cell {
	row := make([]Cell, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case float64:
			row[i].Text = Maybe(v).String()
		case Cell:
			row[i] = v
		default:
			row[i].Text = fmt.Sprint(v)
		}
	}
	return row
}
