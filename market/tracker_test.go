package market

import (
	"slices"
	"testing"
)

// TestLags checks which price changes become scores. If a window has three steps, these are the
// changes over one, two and three steps in turn, and the latest score replaces the oldest.
func TestLags(t *testing.T) {
	t.Parallel()
	tr := newTracker(ConformalOptions{Steps: 3, Scores: 5}, 10, 0)
	price := func(k int) Rate { return Rate(k * k * k) }
	for k := range 9 {
		tr.pass(float64(10*k+5), price(k))
	}
	var want []Rate // the differences between a price and an earlier one, without the oldest difference
	for _, c := range [][2]int{{4, 2}, {5, 2}, {6, 5}, {7, 5}, {8, 5}} {
		want = append(want, price(c[0])-price(c[1]))
	}
	slices.Sort(want)
	if !slices.Equal(tr.sorted, want) || tr.n != 9 || tr.scored != 6 {
		t.Errorf("after %d forecasts %d scores, %v, want %v", tr.n, tr.scored, tr.sorted, want)
	}
}

// TestRest checks that a tracker stops making forecasts after its price has been constant for
// long. It resumes at the first forecast time after the price changes.
func TestRest(t *testing.T) {
	t.Parallel()
	tr := newTracker(ConformalOptions{Steps: 3, Scores: 5}, 10, 7)
	for tr.n < stillEnough {
		tr.pass(7+10*float64(tr.n), 4)
		tr.pass(8+10*float64(tr.n), 4)
	}
	made := tr.n
	now := 7 + 10*float64(made) + 10_002
	if tr.follow(now, 4, 5); tr.n != made+1001 || len(tr.past) > 0 {
		t.Errorf("%d forecasts, %d prices kept, want instants to %d passed over", tr.n, len(tr.past), made+1001)
	}
	if tr.pass(now+7.9, 5); tr.n != made+1001 {
		t.Errorf("a forecast before its instant: %d", tr.n)
	}
	if tr.pass(now+8, 5); tr.n != made+1002 || !slices.Equal(tr.past, []Rate{5}) {
		t.Errorf("%d forecasts, prices %v, want one at its instant", tr.n, tr.past)
	}
}
