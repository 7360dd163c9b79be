package broker

import "bourse/bank"

// Credit is a [Teller] at which everybody can pay anything and which keeps nothing: for
// copies of a market in which something is tried.
type Credit struct{}

// Hold implements [Teller].
func (Credit) Hold(float64, int64, bank.Account, bank.Amount, []byte) error { return nil }

// Settle implements [Teller].
func (Credit) Settle(float64, int64, []bank.Payment, []byte) (bank.Amount, error) {
	return bank.Amount{}, nil
}

// Penalty implements [Teller].
func (Credit) Penalty(float64, int64, []bank.Debit, bank.Account, []byte) (bank.Amount, error) {
	return bank.Amount{}, nil
}

// Reject implements [Teller].
func (Credit) Reject(float64, int64, []byte) error { return nil }
