package contrast

import (
	"fmt"
	"math"
	"strings"
)

// Sentence says in one sentence what comparisons of one metric, rows, came to: what is the
// name of what was done to the first of each, and of the name of the metric. It says in how
// many the first is higher, and lower, by how much, and of how many that cannot be told.
func Sentence(what, of string, rows []Row) string {
	var higher, lower []Row
	for _, r := range rows {
		switch verdict, _, _ := strings.Cut(r.Verdict, ","); verdict {
		case "higher":
			higher = append(higher, r)
		case "lower":
			lower = append(lower, r)
		}
	}
	n, untold := len(rows), len(rows)-len(higher)-len(lower)
	if untold == n {
		return fmt.Sprintf("With and without %s, %s cannot be told apart in any of %d comparisons", what, of, n)
	}
	var parts []string
	part := func(rows []Row, way string) {
		if len(rows) == 0 {
			return
		}
		least, most := math.Inf(1), math.Inf(-1)
		for _, r := range rows {
			d := math.Abs(*r.Difference)
			least, most = min(least, d), max(most, d)
		}
		by := fmt.Sprintf("%.3g", least)
		if most > least {
			by += fmt.Sprintf(" to %.3g", most)
		}
		where := fmt.Sprintf("in %d of %d comparisons", len(rows), n)
		if len(rows) == n {
			where = fmt.Sprintf("in all %d comparisons", n)
		}
		parts = append(parts, fmt.Sprintf("%s %s by %s", way, where, by))
	}
	part(higher, "higher")
	part(lower, "lower")
	if untold > 0 {
		parts = append(parts, fmt.Sprintf("not to be told apart in %d", untold))
	}
	return fmt.Sprintf("With %s %s is %s", what, of, strings.Join(parts, ", "))
}
