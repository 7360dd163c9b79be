package admission

import (
	"math"
	"testing"

	"bourse/contracts/sharing"
)

// TestUnpromised checks that a task to which no instant is promised is in time, whatever
// it gets: beside it there is risk just when another is late (Risk, eq. 4 to 6).
func TestUnpromised(t *testing.T) {
	t.Parallel()
	never := math.Inf(1)
	for _, c := range []struct {
		what       string
		left, span []float64
		safe       bool
	}{
		{"alone", []float64{50}, []float64{never}, true},
		{"two of them", []float64{50, 70}, []float64{never, never}, true},
		{"beside one that is in time", []float64{50, 40}, []float64{never, 100}, true},
		{"beside one that cannot be", []float64{50, 140}, []float64{never, 100}, false},
		{"used up, beside one that is in time", []float64{0, 40}, []float64{never, 100}, true},
	} {
		for _, shares := range []string{"dynamic", "static", "incumbent"} {
			for _, most := range []float64{1, 0.5} { // processors for a task
				p := &Projection{Spare: sharing.Proportional, Shares: shares}
				for i := range c.left {
					p.Add(c.left[i], c.span[i], 0)
				}
				if got := p.project(sharing.Node{Size: 1, Most: most}); got != c.safe {
					t.Errorf("%s, %s, at most %v: without risk %v, want %v", c.what, shares, most, got, c.safe)
				}
			}
		}
	}
}
