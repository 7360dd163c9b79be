package fitlab

import "testing"

// TestLawOrder checks that each distribution has a single colour, because the legend would
// otherwise list it twice.
func TestLawOrder(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, name := range lawOrder() {
		if seen[name] {
			t.Errorf("%s is named twice", name)
		}
		seen[name] = true
	}
}
