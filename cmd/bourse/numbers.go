package main

import (
	"math"
	"strconv"

	"bourse/experiments/report"
)

// A maybe is a number that may not exist: null for programs, a dash for people.
type maybe float64

// MarshalJSON implements [json.Marshaler].
func (x maybe) MarshalJSON() ([]byte, error) {
	if !x.exists() {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(x), 'g', -1, 64), nil
}

func (x maybe) exists() bool { return !math.IsNaN(float64(x)) && !math.IsInf(float64(x), 0) }

// String returns x with six digits at most.
func (x maybe) String() string {
	if !x.exists() {
		return "–"
	}
	return strconv.FormatFloat(float64(x), 'g', 6, 64)
}

// cells returns a row of a table.
func cells(values ...any) []report.Cell {
	row := make([]report.Cell, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case string:
			row[i].Text = v
		case int:
			row[i].Text = strconv.Itoa(v)
		case float64:
			row[i].Text = maybe(v).String()
		case report.Cell:
			row[i] = v
		}
	}
	return row
}
