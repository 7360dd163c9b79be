package contracts_test

import (
	"math"
	"testing"

	"bourse/contracts"
)

// TestPenalty checks the linear penalty with and without a bound (SLA paper, eq. 1).
func TestPenalty(t *testing.T) {
	t.Parallel()
	inf := math.Inf(1)
	for _, c := range []struct {
		penalty contracts.Penalty
		delay   float64
		want    float64
	}{
		{contracts.Penalty{}, 100, 0},
		{contracts.Penalty{Rate: 2, Max: inf}, 0, 0},
		{contracts.Penalty{Rate: 2, Max: inf}, -5, 0},
		{contracts.Penalty{Rate: 2, Max: inf}, 100, 200},
		{contracts.Penalty{Rate: 2, Max: 150}, 100, 150},
		{contracts.Penalty{Rate: 2, Max: 150}, 75, 150},
		{contracts.Penalty{Rate: 2, Max: 150}, 70, 140},
		{contracts.Penalty{Rate: 2, Max: 0}, 70, 0},
		{contracts.Penalty{Rate: 0, Max: inf}, inf, 0},
	} {
		if got := c.penalty.Of(c.delay); got != c.want {
			t.Errorf("%+v of %v s = %v, want %v", c.penalty, c.delay, got, c.want)
		}
	}
}
