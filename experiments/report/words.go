package report

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// none is printed instead of a missing value.
const none = "–"

// Labels maps names in tables to display names. A name that is not listed is displayed with
// spaces between its words. If a label differs from its name only in capitals, it also applies
// to longer names that start with this name.
type Labels map[string]string

// Of returns the label of a name. It returns "BE all" for "be-all" if "be" has the label
// BE, and "Demand correlation" for "demand_correlation".
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

// number formats x with three decimals. A large number has fewer decimals.
func number(x *float64) string {
	if x == nil || math.IsNaN(*x) {
		return none
	}
	return numberOf(*x, math.Abs(*x))
}

// numberOf formats x with the number of decimals that is used for numbers of the given
// size.
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

// unsigned removes the sign of a negative number that is displayed as zero.
func unsigned(s string) string {
	if strings.Trim(s, "-0.") == "" {
		return strings.TrimPrefix(s, "-")
	}
	return s
}

// distinct returns the different keys of rows in the order of their first appearance.
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
