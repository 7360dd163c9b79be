package contrast_test

import (
	"testing"

	"bourse/experiments/contrast"
)

// TestSentence checks that what is said is what the verdicts say, and no more: what is
// undecided, alike or equal is not told apart.
func TestSentence(t *testing.T) {
	t.Parallel()
	row := func(verdict string, difference float64) contrast.Row {
		return contrast.Row{Verdict: verdict, Difference: &difference}
	}
	for _, c := range []struct {
		rows []contrast.Row
		want string
	}{
		{[]contrast.Row{row("undecided", 1), row("equal", 0), row("alike", 0.1)}, "With and without it, x cannot be told apart in any of 3 comparisons"},
		{[]contrast.Row{row("higher", 1), row("higher", 2.5)}, "With it x is higher in all 2 comparisons by 1 to 2.5"},
		{[]contrast.Row{row("higher", 1), row("lower, alike", -0.25), row("undecided", -9)},
			"With it x is higher in 1 of 3 comparisons by 1, lower in 1 of 3 comparisons by 0.25, not to be told apart in 1"},
		{[]contrast.Row{{Verdict: "no sample"}}, "With and without it, x cannot be told apart in any of 1 comparisons"},
	} {
		if got := contrast.Sentence("it", "x", c.rows); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
