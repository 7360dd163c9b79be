package report

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// none is shown where nothing applies.
const none = "–"

// Labels are names of the tables as people read them, where that is not the name in
// words. One that differs from its name in capitals alone stands for it where longer
// names begin with it, too.
type Labels map[string]string

// Of returns the label of a name: "be-all" as BE all where "be" is BE, and
// "demand_correlation" as Demand correlation.
func (l Labels) Of(name string) string {
	if label, ok := l[name]; ok {
		return label
	}
	name = strings.NewReplacer("-", " ", "_", " ").Replace(name)
	first, rest, _ := strings.Cut(name, " ")
	if label := l[first]; label != first && strings.EqualFold(label, first) {
		return strings.TrimSpace(label + " " + rest)
	}
	r, n := utf8.DecodeRuneInString(name)
	if n == 0 {
		return name
	}
	return string(unicode.ToUpper(r)) + name[n:]
}

// number returns x with three decimals, or fewer where it is large.
func number(x *float64) string {
	if x == nil || math.IsNaN(*x) {
		return none
	}
	return numberOf(*x, math.Abs(*x))
}

// numberOf returns x as a number of that size is written.
func numberOf(x, size float64) string {
	switch {
	case size < 100:
		return unsigned(strconv.FormatFloat(x, 'f', 3, 64))
	case size < 1e6:
		return unsigned(strconv.FormatFloat(x, 'f', 1, 64))
	default:
		return strconv.FormatFloat(x, 'g', 4, 64)
	}
}

// unsigned takes the sign from a negative number that is shown as zero.
func unsigned(s string) string {
	if strings.Trim(s, "-0.") == "" {
		return strings.TrimPrefix(s, "-")
	}
	return s
}

// distinct returns what key gives for each row, once, in order of appearance.
func distinct[R any](rows []R, key func(R) string) []string {
	var keys []string
	seen := make(map[string]bool)
	for _, r := range rows {
		if k := key(r); !seen[k] {
			seen[k] = true
			keys = append(keys, k)
		}
	}
	return keys
}
