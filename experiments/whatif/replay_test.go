package whatif

import (
	"testing"

	"bourse/bank"
)

func fate(state string, worth, paid, penalty int64) outcome {
	return outcome{State: state, Worth: bank.Micros(worth), Paid: bank.Micros(paid), Penalty: bank.Micros(penalty)}
}

// TestCompare compares a case that was computed by hand.
func TestCompare(t *testing.T) {
	t.Parallel()
	refused := outcome{State: "refused", Reason: "too few hosts"}
	r := compared("be", "cac", []comparedJob{
		{ID: 1, Owner: "user:ann", Asked: 0, Was: fate("violated", 0, 300_000, 100_000), Is: fate("fulfilled", 1_000_000, 400_000, 0)}, // utility changes from -0.2 to 0.6
		{ID: 2, Owner: "user:bob", Asked: 1.25, Was: fate("fulfilled", 500_000, 100_000, 0), Is: refused},                              // utility changes from 0.4 to 0
		{ID: 3, Owner: "user:bob", Asked: 2, Was: refused, Is: refused},
		{ID: 4, Owner: "user:ann", Asked: 3, Was: fate("cancelled", 0, 50_000, 0), Is: fate("cancelled", 0, 0, 0)},
	})
	const want = `                       be       cac
      fulfilled         1         1
       violated         1         0
      cancelled         1         1
        refused         1         2
       paid ($)  0.450000  0.400000
  penalties ($)  0.100000  0.000000
    surplus ($)  0.150000  0.600000

Of 4 jobs, 2 gain $0.850000, 1 lose $0.400000 and 1 stay the same.

Largest gains
job  owner     submitted (s)  be                        cac                        gain ($)
1    user:ann  0.0            violated, paid $0.300000  fulfilled, paid $0.400000  0.800000

Largest losses
job  owner     submitted (s)  be                         cac                     gain ($)
2    user:bob  1.2            fulfilled, paid $0.100000  refused: too few hosts  -0.400000
`
	if got := r.Text(1); got != want {
		t.Errorf("got\n%s", got)
	}
	was, is := r.Figure().Panels[0].Curves[0].Points, r.Figure().Panels[0].Curves[1].Points
	for i, c := range []struct{ asked, was, is float64 }{{0, -0.2, 0.6}, {1.25, 0.2, 0.6}, {2, 0.2, 0.6}, {3, 0.15, 0.6}} {
		if was[i].X != c.asked || was[i].Mean != c.was || is[i].Mean != c.is {
			t.Errorf("drawn at %v: %v and %v, want %+v", was[i].X, was[i].Mean, is[i].Mean, c)
		}
	}
}
