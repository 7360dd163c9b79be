package export

import "bourse/bank"

// A Balance is the balance of an account.
type Balance struct {
	Account string      `json:"account"`
	Amount  bank.Amount `json:"amount"`
}

// Balances returns the balances of all accounts except the mint after the entries, in order of
// first use. If asked is not empty, it returns only the balance of that account, even if it
// was never paid.
func Balances(entries Entries, asked string) ([]Balance, error) {
	l := bank.New(nil)
	for e := range entries {
		if err := l.Replay(e); err != nil {
			return nil, err
		}
	}
	found := []Balance{}
	if asked != "" {
		found = append(found, Balance{Account: asked})
	}
	for name, amount := range l.Balances() {
		switch {
		case name == asked:
			found[0].Amount = amount
		case asked == "" && name != "mint":
			found = append(found, Balance{name, amount})
		}
	}
	return found, nil
}
