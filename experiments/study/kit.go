package study

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"

	"bourse/experiments/report"
	"bourse/experiments/results"
)

// defined returns the elements of xs that are not NaN.
func defined(xs []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(xs), math.IsNaN)
}

// maybe returns x in a form that may be null in JSON.
func maybe(x *float64) report.Maybe {
	if x == nil {
		return report.Maybe(math.NaN())
	}
	return report.Maybe(*x)
}

// digits formats x in a format of [strconv.FormatFloat], or as a dash if x is undefined.
func digits(x float64, format byte, n int) string {
	if !report.Maybe(x).Exists() {
		return "–"
	}
	return strconv.FormatFloat(x, format, n, 64)
}

// sheet returns a CSV table. Undefined numbers are empty cells.
func sheet(head []string, rows [][]any) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(head) // writes to a Buffer cannot fail
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, v := range row {
			switch v := v.(type) {
			case string:
				cells[i] = v
				if _, err := strconv.ParseFloat(v, 64); err != nil { // numbers are not formulas, so they need no apostrophe
					cells[i] = results.SafeText(v)
				}
			case report.Maybe:
				if v.Exists() {
					cells[i] = strconv.FormatFloat(float64(v), 'g', -1, 64)
				}
			default:
				cells[i] = fmt.Sprint(v)
			}
		}
		w.Write(cells)
	}
	w.Flush()
	return b.Bytes()
}

// point returns a point of a figure with its interval, if there is one.
func point(x float64, mean, lo, hi report.Maybe) report.Point {
	p := report.Point{X: x, Mean: float64(mean), Lo: float64(mean), Hi: float64(mean)}
	if lo.Exists() && hi.Exists() {
		p.Lo, p.Hi = float64(lo), float64(hi)
	}
	return p
}

// flat returns a point of a figure without an interval.
func flat(x, y float64) report.Point { return report.Point{X: x, Mean: y, Lo: y, Hi: y} }
