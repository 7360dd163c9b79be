package verify

import (
	"math"
	"testing"
)

// TestMissingClearings checks that clearings may be missing only if no contract ran at their
// times.
func TestMissingClearings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		at, from float64 // times of a clearing and of the start of the only contract that runs
		want     bool
	}{
		{60, math.Inf(1), true}, {120, 0, true}, {180, 0, false}, {180, math.Inf(1), true}, {180, 130, true}, {180, 110, false},
		{0, math.Inf(1), false}, {90, math.Inf(1), false}, {180000, math.Inf(1), true},
	} {
		s := sale{sold: &Sold{Every: 60}, open: map[int64]*contract{}, next: 1}
		if !math.IsInf(c.from, 1) {
			s.open[1] = &contract{visits: []visit{{from: c.from, to: math.Inf(1)}}}
		}
		if got := s.due(c.at); got != c.want {
			t.Errorf("a clearing at %v s, with a contract from %v s on: %v, want %v", c.at, c.from, got, c.want)
		}
	}
}
