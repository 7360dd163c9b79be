package mixed

import (
	"bourse/contracts"
	"bourse/contracts/admission/policytest"
)

type (
	tb      = policytest.TB
	options = policytest.Options
)

// newDecider creates the decider of the named policy, which bids on the cheapest hosts.
func newDecider(t tb, name string, o options) contracts.Decider {
	t.Helper()
	return policytest.Decider(t, policytest.Factory(Policies()[name].New), o)
}
