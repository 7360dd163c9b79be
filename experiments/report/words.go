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

// Label returns a name of the tables as people read it: "be" as BE, "pareto-high"
// as Pareto high, "demand_correlation" as Demand correlation.
func Label(name string) string {
	switch name {
	case "p_a", "p_w", "p_d", "q":
		return name
	case "completed":
		return "Jobs completed"
	case "utility":
		return "Utility achieved"
	}
	if alpha, ok := strings.CutPrefix(name, "efficiency_"); ok {
		if _, err := strconv.ParseFloat(alpha, 64); err == nil {
			return "Efficiency, α = " + alpha
		}
	}
	for _, kind := range []string{"_od", "_ar"} { // of reservations
		if rest, ok := strings.CutSuffix(name, kind); ok {
			name = rest + strings.ToUpper(kind)
		}
	}
	name = strings.NewReplacer("-", " ", "_", " ").Replace(name)
	switch first, rest, _ := strings.Cut(name, " "); first {
	case "be", "sac", "cac", "rac", "edf", "fcfs", "easy", "mli", "ran", "ff", "nf", "imct", "pps", "tde", "kth", "sp2":
		return strings.TrimSpace(strings.ToUpper(first) + " " + rest)
	case "minu":
		return strings.TrimSpace("MinU " + rest)
	case "maxu":
		return strings.TrimSpace("MaxU " + rest)
	case "librarisk":
		return strings.TrimSpace("LibraRisk " + rest)
	case "librasla":
		return strings.TrimSpace("LibraSLA " + rest)
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
