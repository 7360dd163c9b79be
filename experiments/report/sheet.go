package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"reflect"
	"strconv"

	"bourse/experiments/results"
)

// Sheet returns a CSV table. Undefined numbers and nil pointers are empty cells.
func Sheet(head []string, rows [][]any) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(head) // writes to a Buffer cannot fail
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = sheetCell(v)
		}
		w.Write(cells)
	}
	w.Flush()
	return b.Bytes()
}

func sheetCell(v any) string {
	switch v := v.(type) {
	case string:
		if _, err := strconv.ParseFloat(v, 64); err == nil { // numbers are not formulas, so they need no apostrophe
			return v
		}
		return results.SafeText(v)
	case Maybe:
		if !v.Exists() {
			return ""
		}
		return strconv.FormatFloat(float64(v), 'g', -1, 64)
	}
	if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer {
		if p.IsNil() {
			return ""
		}
		return fmt.Sprint(p.Elem())
	}
	return fmt.Sprint(v)
}
