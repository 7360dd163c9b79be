package audits

import "testing"

// TestTally checks that a tally adds up the entries of several audits. The total is known in
// advance if there is a head.
func TestTally(t *testing.T) {
	t.Parallel()
	var done, total int
	got := newTally([]string{"10:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", ""}, func(d, n int) { done, total = d, n })
	got.of(1)(3, 5)
	if done != 3 || total != 15 {
		t.Errorf("came to %d of %d, want 3 of 15", done, total)
	}
	got.of(0)(10, 10)
	got.of(1)(6, 6) // more entries than the head states
	if done != 16 || total != 16 {
		t.Errorf("came to %d of %d, want 16 of 16", done, total)
	}
	if newTally([]string{""}, nil).of(0) != nil {
		t.Error("nobody asks, and is told")
	}
}
