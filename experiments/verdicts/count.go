package verdicts

import (
	"fmt"
	"math"
	"strings"

	"bourse/experiments/contrast"
)

// Count summarizes comparisons of one metric in one sentence. It states in how many rows the
// first element is higher or lower, by how much, and how many differences are not significant.
// The argument of is the display name of the metric.
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
		parts = append(parts, fmt.Sprintf("not significantly different in %d of %d", untold, len(rows)))
	}
	return of + " " + strings.Join(parts, ", ")
}
