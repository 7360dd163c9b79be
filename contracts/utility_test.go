package contracts_test

import (
	"math"
	"testing"

	"bourse/contracts"
)

// TestUtility checks eq. 7, 8 and 9 on a job worth 10 for which 4 is paid.
func TestUtility(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                                string
		done, want                          float64
		inelastic, elastic, half, quarterly float64 // half: alpha 1/2; quarterly: 1/4
	}{
		{"all", 100, 100, 6, 6, 6, 6},
		{"more", 250, 100, 6, 6, 6, 6},
		{"none", 0, 100, -4, -4, -4, -4},
		{"half", 50, 100, -4, 1, -1.5, -0.25},
		{"within the tolerance", 100 * (1 - 1e-9), 100, 6, 6, 6, 6},
		{"beyond it", 99, 100, -4, 5.9, 0.95, 3.425},
	} {
		const paid, value = 4, 10
		for _, u := range []struct {
			name      string
			got, want float64
		}{
			{"U_i", contracts.Inelastic(c.done, c.want, paid, value), c.inelastic},
			{"U_e", contracts.Elastic(c.done, c.want, paid, value), c.elastic},
			{"U, a = 0", contracts.Mixed(0, c.done, c.want, paid, value), c.elastic},
			{"U, a = 1/4", contracts.Mixed(0.25, c.done, c.want, paid, value), c.quarterly},
			{"U, a = 1/2", contracts.Mixed(0.5, c.done, c.want, paid, value), c.half},
			{"U, a = 1", contracts.Mixed(1, c.done, c.want, paid, value), c.inelastic},
		} {
			if !(math.Abs(u.got-u.want) <= 1e-12) {
				t.Errorf("%s: %s = %v, want %v", c.name, u.name, u.got, u.want)
			}
		}
	}
}
