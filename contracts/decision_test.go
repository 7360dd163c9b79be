package contracts_test

import (
	"testing"

	"bourse/contracts"
)

// TestDecisionJSON checks that what was looked at and nothing else is said of a
// decision, a price of nothing too: where none is said it is the budget.
func TestDecisionJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		d    contracts.Decision
		want string
	}{
		{contracts.Decision{Verdict: contracts.Accept}, `{"decision":"accept"}`},
		{contracts.Decision{Verdict: contracts.Accept, Completion: 5}, `{"decision":"accept","completion":5}`},
		{contracts.Decision{Verdict: contracts.Accept, Priced: true, Ask: 0.25}, `{"decision":"accept","ask":0.25}`},
		{contracts.Decision{Verdict: contracts.Accept, Priced: true}, `{"decision":"accept","ask":0}`},
		{contracts.Decision{Reason: contracts.TooDear, Priced: true, Ask: 3}, `{"decision":"reject","reason":"price above budget","ask":3}`},
		{contracts.Decision{Reason: contracts.NoShare}, `{"decision":"reject","reason":"too few hosts have the share it needs","hosts":0}`},
	} {
		if got := string(c.d.AppendJSON(nil)); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
