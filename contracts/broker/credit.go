package broker

import "bourse/bank"

// Credit is a [Teller] that approves every amount and records nothing. Copies of a market that
// test an alternative, for example a replay under another policy, use it.
type Credit struct{}

// Hold implements [Teller]. It always succeeds.
func (Credit) Hold(float64, int64, bank.Account, bank.Amount, []byte) error { return nil }

// Adjust implements [Teller]. It always succeeds.
func (Credit) Adjust(float64, int64, bank.Amount, []byte) error { return nil }

// Settle implements [Teller]. It makes no payments and refunds 0.
func (Credit) Settle(float64, int64, []bank.Payment, []byte) (bank.Amount, error) {
	return bank.Amount{}, nil
}

// Penalty implements [Teller]. It reports 0 as paid.
func (Credit) Penalty(float64, int64, []bank.Debit, bank.Account, []byte) (bank.Amount, error) {
	return bank.Amount{}, nil
}

// Reject implements [Teller]. It does nothing.
func (Credit) Reject(float64, int64, []byte) error { return nil }
