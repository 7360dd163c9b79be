// Package batch parses the input that users of batch systems write: array indices, and job
// scripts with directives of sbatch. It returns the terms of a request and names the
// directives that it cannot honour.
//
// The package is independent of markets, their orders and their clients.
package batch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MostIndices is the maximum number of indices of an array.
const MostIndices = 100_000

// Array parses indices such as 0-9, 1,3,5 or 0-9:2,20%3, where %3 allows at most 3 unfinished
// jobs at a time. It returns the indices in ascending order, and the throttle, which is 0 if
// there is none.
func Array(text string) (indices []int, throttle int, err error) {
	list, most, throttled := strings.Cut(text, "%")
	if throttled {
		if throttle, err = natural(most); err != nil || throttle == 0 {
			return nil, 0, fmt.Errorf("throttle: found %q, want a whole number above 0 after %%", most)
		}
	}
	for item := range strings.SplitSeq(list, ",") {
		indices, err = span(indices, item)
		if err != nil {
			return nil, 0, err
		}
	}
	slices.Sort(indices)
	for i := 1; i < len(indices); i++ {
		if indices[i] == indices[i-1] {
			return nil, 0, fmt.Errorf("twice: found index %d twice, want distinct indices", indices[i])
		}
	}
	return indices, throttle, nil
}

// span appends the indices of one item to indices. The item has the form N, FIRST-LAST or
// FIRST-LAST:STEP.
func span(indices []int, item string) ([]int, error) {
	text, by, stepped := strings.Cut(item, ":")
	from, to, ranged := strings.Cut(text, "-")
	if !ranged {
		to = from
	}
	first, wrong := natural(from)
	last, err := natural(to)
	if wrong != nil || err != nil || last < first || stepped && !ranged {
		return nil, fmt.Errorf("item: found %q, want N, FIRST-LAST or FIRST-LAST:STEP, such as 0-9:2", item)
	}
	step := 1
	if stepped {
		if step, err = natural(by); err != nil || step == 0 {
			return nil, fmt.Errorf("step: found %q, want a whole number above 0", by)
		}
	}
	if n := len(indices) + (last-first)/step + 1; n > MostIndices {
		return nil, fmt.Errorf("too many: found %d indices, want at most %d", n, MostIndices)
	}
	for i := first; i <= last; i += step {
		indices = append(indices, i)
	}
	return indices, nil
}

// natural parses digits without a sign.
func natural(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	return int(n), err
}
