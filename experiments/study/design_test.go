package study

import (
	"testing"

	"pgregory.net/rapid"
)

// balanced reports whether all combinations occur equally often in the given columns of
// array.
func balanced(array [][]int, levels []int, columns ...int) bool {
	all := 1
	for _, c := range columns {
		all *= levels[c]
	}
	count := make([]int, all)
	for _, row := range array {
		at := 0
		for _, c := range columns {
			at = at*levels[c] + row[c]
		}
		count[at]++
	}
	for _, n := range count {
		if n*all != len(array) {
			return false
		}
	}
	return true
}

// TestOrthogonal checks by counting that arrays with any levels have their strength.
func TestOrthogonal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		levels := rapid.SliceOfN(rapid.SampledFrom([]int{2, 2, 2, 3, 4, 5, 6, 8, 9}), 1, 7).Draw(t, "levels")
		strength := rapid.IntRange(2, 3).Draw(t, "strength")
		array := orthogonal(levels, strength, 3000)
		if array == nil {
			return
		}
		for a := range levels {
			for b := range a {
				if !balanced(array, levels, a, b) {
					t.Fatalf("columns %d and %d of %d rows are not balanced", b, a, len(array))
				}
				for c := range b {
					if strength == 3 && !balanced(array, levels, a, b, c) {
						t.Fatalf("columns %d, %d and %d of %d rows are not balanced", c, b, a, len(array))
					}
				}
			}
		}
	})
}

// TestSmall checks the number of rows of arrays whose minimum is known: Hadamard's arrays
// of 8 rows and, of strength 3, of 16 rows; Taguchi's L9; L16 with five factors at four
// levels (MacNeish); and products.
func TestSmall(t *testing.T) {
	t.Parallel()
	times := func(n, level int) (all []int) {
		for range n {
			all = append(all, level)
		}
		return all
	}
	for _, c := range []struct {
		levels         []int
		strength, want int
	}{
		{times(7, 2), 2, 8}, {times(8, 2), 3, 16}, {times(16, 2), 3, 32}, {times(4, 3), 2, 9}, {times(5, 4), 2, 16},
		{[]int{6}, 2, 6}, {[]int{2, 3}, 2, 6}, {append(times(8, 2), 3, 5), 3, 240}, {times(4, 3), 3, 27},
	} {
		if got := len(orthogonal(c.levels, c.strength, 5000)); got != c.want {
			t.Errorf("%v, strength %d: %d rows, want %d", c.levels, c.strength, got, c.want)
		}
		if orthogonal(c.levels, c.strength, c.want-1) != nil {
			t.Errorf("%v: an array of fewer rows than %d", c.levels, c.want)
		}
	}
}
