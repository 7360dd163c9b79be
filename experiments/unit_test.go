package experiments

import "testing"

// few returns the paper's experiment, divided into units of a few replications.
func few(t testing.TB, replications int, sets ...string) *Prepared {
	t.Helper()
	ready, err := Prepare(paper(t, replications, sets...))
	if err != nil {
		t.Fatal(err)
	}
	ready.UnitRows = 3 * 50 * 4
	return ready
}

// TestUnits checks that each replication is in exactly one unit, in order, and that the
// names of units identify them.
func TestUnits(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 4, 7} {
		ready := few(t, n)
		next := Unit{}
		for _, u := range ready.Units() {
			if u.Configuration == next.Configuration+1 && next.To == n {
				next = Unit{Configuration: u.Configuration}
			}
			if u.Configuration != next.Configuration || u.From != next.To || u.To <= u.From || u.To > n {
				t.Errorf("n=%d: %v after %v", n, u, next)
			}
			if again, err := ParseUnit(u.Name()); err != nil || again != u {
				t.Errorf("%s is %v, %v", u.Name(), again, err)
			}
			next = u
		}
		if next.To != n || next.Configuration != len(ready.settings)-1 {
			t.Errorf("n=%d: the last is %v", n, next)
		}
	}
	for _, name := range []string{"", "1-2", "1-2-2", "1-3-2", "01-2-3", "1-2-3x", "-1-2-3"} {
		if u, err := ParseUnit(name); err == nil {
			t.Errorf("%q is %v", name, u)
		}
	}
}
