package scenario

import (
	"strings"
	"testing"
)

// TestArrays checks that options with a fixed number of values are read from lists of
// exactly this length, and that the error for other lengths states it.
func TestArrays(t *testing.T) {
	t.Parallel()
	read := func(options string) (o struct {
		Mean [2]float64    `yaml:"mean" doc:"of two"`
		Next [2][2]float64 `yaml:"next"`
	}, err error) {
		n, err := read("test", []byte(options))
		if err != nil {
			return o, err
		}
		return o, Options{fields: n}.Decode(&o)
	}
	o, err := read("mean: [1, 2.5]\nnext: [[0, 1], [2, 0]]")
	if err != nil || o.Mean != [2]float64{1, 2.5} || o.Next != [2][2]float64{{0, 1}, {2, 0}} {
		t.Errorf("read %v, %v", o, err)
	}
	for options, want := range map[string]string{
		"mean: [1]":             "mean: found a list of 1, want a list of 2, each a number (of two)",
		"mean: 1":               "want a list of 2, each a number",
		"mean: [1, x]":          "mean.1: found x, want a number",
		"next: [[0, 1], [2]]":   "next.1: found a list of 1, want a list of 2",
		"next: [[0, 1], 2]":     "next.1: found 2, want a list of 2",
		"next: [[0], [1], [2]]": "want a list of 2, each a list of 2, each a number",
	} {
		if _, err := read(options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", options, err, want)
		}
	}
}
