package swf

import (
	"bytes"
	"math"
	"strconv"
)

const maxNumber = 1e15 // no column exceeds it, and integers up to it are exact

// A scan is the result of parsing a line.
type scan struct {
	fields int  // number of fields; if one is bad, of those before it
	plain  bool // every field is an integer, at least 0 or -1, of at most 15 digits
	bad    []byte
}

// parse reads the fields of a line into v, up to the first one that is not a number.
func parse(line []byte, v *[Fields]float64) scan {
	s := scan{plain: true}
	for i := 0; ; {
		for i < len(line) && blank(line[i]) {
			i++
		}
		if i == len(line) {
			return s
		}
		if s.fields >= Fields { // only their number matters
			s.fields += len(bytes.Fields(line[i:]))
			return s
		}
		if rest := line[i:]; len(rest) > 2 && rest[0] == '-' && rest[1] == '1' && rest[2] == ' ' {
			v[s.fields] = Unknown
			s.fields++
			i += 3
			continue
		}
		m, end := uint64(0), i
		for end < len(line) && line[end]-'0' <= 9 {
			m = m*10 + uint64(line[end]-'0')
			end++
		}
		if length := end - i; length > 0 && length <= 15 && (end == len(line) || blank(line[end])) {
			v[s.fields] = float64(m)
		} else {
			for end < len(line) && !blank(line[end]) {
				end++
			}
			x, ok := number(line[i:end])
			if !ok {
				s.bad = line[i:end]
				return s
			}
			v[s.fields] = x
			s.plain = s.plain && x == Unknown
		}
		s.fields++
		i = end
	}
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// number reads a decimal, with or without an exponent.
func number(text []byte) (float64, bool) {
	if len(text) > 64 || len(bytes.Trim(text, "0123456789+-.eE")) > 0 {
		return 0, false
	}
	x, err := strconv.ParseFloat(string(text), 64)
	if err != nil && math.IsInf(x, 0) {
		return x, true // out of range, which is another fault
	}
	return x, err == nil
}
