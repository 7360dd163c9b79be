package verdicts_test

import (
	"testing"

	"bourse/experiments/contrast"
	"bourse/experiments/verdicts"
)

// TestCount checks that the sentence agrees with the verdicts. Undecided, equivalent and
// equal pairs must not be reported as different.
func TestCount(t *testing.T) {
	t.Parallel()
	row := func(verdict string, difference float64) contrast.Row {
		return contrast.Row{Verdict: verdict, Difference: &difference}
	}
	for _, c := range []struct {
		rows []contrast.Row
		want string
	}{
		{[]contrast.Row{row("undecided", 1), row("equal", 0), row("alike", 0.1)}, "x not significantly different in 3 of 3"},
		{[]contrast.Row{row("higher", 1), row("higher", 2.5)}, "x higher in 2 of 2 by 1 to 2.5"},
		{[]contrast.Row{row("higher", 1.0001), row("higher", 1)}, "x higher in 2 of 2 by 1"},
		{[]contrast.Row{row("higher", 1), row("lower, alike", -0.25), row("undecided", -9)}, "x higher in 1 of 3 by 1, lower in 1 of 3 by 0.25, not significantly different in 1 of 3"},
		{[]contrast.Row{{Verdict: "no sample"}}, "x not significantly different in 1 of 1"},
	} {
		if got := verdicts.Count("x", c.rows); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
