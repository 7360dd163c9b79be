package admission

import (
	"bourse/contracts"
	"bourse/contracts/admission/policytest"
	"bourse/contracts/note"
)

type (
	tb      = policytest.TB
	options = policytest.Options
)

// numbers returns the numbers of d, as the ledger shows them.
func numbers(d contracts.Decision) map[string]float64 {
	return must(note.ParseAgreement(d.AppendJSON(nil))).Numbers
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// newDecider creates the decider of the named policy, which bids on the cheapest hosts.
func newDecider(t tb, name string, o options) contracts.Decider {
	t.Helper()
	return policytest.Decider(t, policytest.Factory(Policies()[name].New), o)
}
