package verify_test

import "testing"

// TestFree checks that a charge of one micro-dollar under the payment rule free is found.
// Equal max-min shares determine the work done: two tasks share a processor.
func TestFree(t *testing.T) {
	t.Parallel()
	rules := usage
	rules.Payment, rules.Sharing, rules.CPUs = "free", "maxmin", 1
	_, table := small()
	row := func(id, paid, end string) []string {
		return []string{"small", "cac", "0", id, "ann", "0", "100", "1", "2.000000", "accept", "", "0", end, "100", "100", paid, "0.000000", "true"}
	}
	for _, c := range []struct {
		paid  string
		x     float64
		end   float64
		clean bool
	}{
		{"0.000000", 0, 200, true},
		{"0.000001", 0.000001, 200, false}, // planted error: a charge
		{"0.000000", 0, 150, false},        // planted error: more work than half a processor can do
	} {
		end := map[float64]string{200: "200", 150: "150"}[c.end]
		rows := [][]string{table[0], row("1", c.paid, end), row("2", "0.000000", "200")}
		steps := []step{
			{"hold", 0, 1, 2, terms(10000000, "")},
			{"hold", 0, 2, 2, terms(10000000, "")},
			{"settle", c.end, 1, c.x, done},
			{"settle", 200, 2, 0, done},
		}
		if r := held(t, steps, rows, rules); r.Clean() != c.clean {
			t.Errorf("paid %s, end %s: %v", c.paid, end, r.Findings)
		}
	}
}
