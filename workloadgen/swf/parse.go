package swf

import (
	"bytes"
	"math"
	"strconv"
)

const maxNumber = 1e15 // no column exceeds it, and integers up to it are exact

// parse reads the fields of a line into v, up to the first one that is not a number. It
// returns their number, and the text of that one.
func parse(line []byte, v *[Fields]float64) (fields int, bad []byte) {
	for i := 0; i < len(line); {
		if blank(line[i]) {
			i++
			continue
		}
		from := i
		for i < len(line) && !blank(line[i]) {
			i++
		}
		if fields < Fields { // of the others, only their number matters
			x, ok := number(line[from:i])
			if !ok {
				return fields, line[from:i]
			}
			v[fields] = x
		}
		fields++
	}
	return fields, nil
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// number reads a decimal, with or without an exponent.
func number(text []byte) (float64, bool) {
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil && len(text) <= 15 { // most numbers
		return float64(n), true
	}
	if len(text) > 64 || len(bytes.Trim(text, "0123456789+-.eE")) > 0 {
		return 0, false
	}
	x, err := strconv.ParseFloat(string(text), 64)
	if err != nil && math.IsInf(x, 0) {
		return x, true // out of range, which is another fault
	}
	return x, err == nil
}
