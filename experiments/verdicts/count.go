package verdicts

import (
	"fmt"
	"math"
	"strings"

	"bourse/experiments/contrast"
)

// Count says what comparisons of one metric, rows, came to: in how many of them the first
// is higher and lower, by how much, and of how many that cannot be told. Of is what people
// call the metric.
func Count(of string, rows []contrast.Row) string {
	by := map[string][]float64{}
	for _, r := range rows {
		if verdict, _, _ := strings.Cut(r.Verdict, ","); verdict == "higher" || verdict == "lower" {
			by[verdict] = append(by[verdict], math.Abs(*r.Difference))
		}
	}
	var parts []string
	for _, verdict := range []string{"higher", "lower"} {
		differences := by[verdict]
		if len(differences) == 0 {
			continue
		}
		least, most := math.Inf(1), math.Inf(-1)
		for _, d := range differences {
			least, most = min(least, d), max(most, d)
		}
		how := fmt.Sprintf("%.3g", least)
		if to := fmt.Sprintf("%.3g", most); to != how {
			how += " to " + to
		}
		parts = append(parts, fmt.Sprintf("%s in %d of %d by %s", verdict, len(differences), len(rows), how))
	}
	if untold := len(rows) - len(by["higher"]) - len(by["lower"]); untold > 0 {
		parts = append(parts, fmt.Sprintf("cannot be told apart in %d of %d", untold, len(rows)))
	}
	return of + " " + strings.Join(parts, ", ")
}
