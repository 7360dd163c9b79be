package scenario

import "strings"

// oneOf lists what would be right, and guesses what was meant.
func oneOf(found string, names []string) string {
	if len(names) == 0 {
		return "want none"
	}
	s := "want one of " + strings.Join(names, ", ")
	if near := nearest(found, names); near != "" {
		s += "; did you mean " + near + "?"
	}
	return s
}

// nearest returns the name that the fewest edits make of s, "" if that takes
// more than three, or more than half of its letters.
func nearest(s string, names []string) string {
	best, least := "", max(1, min(3, len(s)/2))+1
	if len(s) > 64 {
		return ""
	}
	for _, n := range names {
		if d := distance(strings.ToLower(s), strings.ToLower(n)); d < least {
			best, least = n, d
		}
	}
	return best
}

// distance returns Levenshtein's: letters put in, taken out or replaced.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d++
			}
			diagonal = row[j+1]
			row[j+1] = min(d, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
