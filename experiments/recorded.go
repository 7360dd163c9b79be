package experiments

import (
	"strings"

	"bourse/experiments/scenario"
	"bourse/hosts/availability"
)

// ReadAvailability reads a recorded trace as scenarios do that say no more than
// its path and format, "auto" to tell by its first lines. It returns what became
// of every line, too.
func ReadAvailability(path, format string) (*availability.Trace, string, error) {
	a := scenario.DefaultAvailability()
	a.File, a.Format = path, format
	t, acc, err := readTrace(&a)
	if err != nil {
		return nil, "", err
	}
	return t, path + ": " + strings.TrimSpace(acc.String()), nil
}
