package plugin

import (
	"fmt"
	"strings"
)

// Unknown returns the message for a name (found) that is not one of names. The message suggests
// the intended name.
func Unknown(found string, names []string) string {
	if found == "" {
		return "found none, " + OneOf(found, names)
	}
	return fmt.Sprintf("found %q, %s", found, OneOf(found, names))
}

// manyNames is the smallest number of names for which a guess replaces the list of names.
const manyNames = 20

// OneOf guesses the intended name, and lists the valid names, unless the guess is one of
// many.
func OneOf(found string, names []string) string {
	if len(names) == 0 {
		return "want none"
	}
	near, list := Nearest(found, names), "want one of "+strings.Join(names, ", ")
	switch {
	case near == "":
		return list
	case len(names) >= manyNames:
		return fmt.Sprintf("did you mean %s? (one of %d)", near, len(names))
	}
	return "did you mean " + near + "? " + list
}

// Nearest returns the name with the smallest edit distance from s, or "" if the distance
// exceeds three or half the length of s. All names use the same rule. The function Suggest of
// urfave supports only flags and commands, and guesses at any distance.
func Nearest(s string, names []string) string {
	best, least := "", min(3, len(s)/2)+1
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

// distance returns the number of insertions, deletions, replacements and swaps of adjacent
// letters that change a to b.
func distance(a, b string) int {
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, above, row = above, row, before
		row[0] = i + 1
		for j := range len(b) {
			d := above[j]
			if a[i] != b[j] {
				d++
			}
			row[j+1] = min(d, above[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

// Clip shortens text to fit into one line of a message.
func Clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}
