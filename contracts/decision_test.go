package contracts_test

import (
	"math"
	"testing"

	"bourse/bank"
	"bourse/contracts"
)

func priced(ask float64) contracts.Decision {
	d := contracts.Decision{Verdict: contracts.Accept}
	d.Price(ask)
	return d
}

// TestDecisionJSON checks that the JSON of a decision contains exactly the numbers that the
// policy consulted, including a price of 0; without a price, the budget is the price. Values
// that JSON cannot represent are omitted.
func TestDecisionJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		d    contracts.Decision
		want string
	}{
		{contracts.Decision{Verdict: contracts.Accept}, `{"decision":"accept"}`},
		{contracts.Decision{Numbers: contracts.Numbers{}.With("start", 0).With("completion", 5)}, `{"decision":"reject","completion":5}`},
		{contracts.Decision{Numbers: contracts.Numbers{contracts.Measured("load", math.Inf(1)), contracts.Measured("price", math.NaN()), contracts.Counted("hosts", -1)}}, `{"decision":"reject","hosts":-1}`},
		{priced(0.25), `{"decision":"accept","ask":0.25}`},
		{priced(0), `{"decision":"accept","ask":0}`},
		{contracts.Decision{Reason: contracts.Unfunded, Numbers: contracts.Numbers{
			contracts.Measured("gets", 0), contracts.Counted("hosts", 0), contracts.Concerned("violates", 1<<62+1), contracts.Paid("balance", bank.Micros(-1)),
		}}, `{"decision":"reject","reason":"unfunded","gets":0,"hosts":0,"violates":4611686018427387905,"balance":"-0.000001"}`},
	} {
		if got := string(c.d.AppendJSON(nil)); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
