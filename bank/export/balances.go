package export

import "bourse/bank"

// A Balance is the balance of an account.
type Balance struct {
	Account string      `json:"account"`
	Amount  bank.Amount `json:"amount"`
}

// Balances returns the balances of all accounts except the mint after the given entries, in
// order of first use. If asked is not empty, Balances returns only the balance of the account
// asked, or nothing if no entry moves money from or to that account.
func Balances(entries Entries, asked string) ([]Balance, error) {
	l := bank.New(nil)
	for e := range entries {
		if err := l.Replay(e); err != nil {
			return nil, err
		}
	}
	found := []Balance{}
	for name, amount := range l.Balances() {
		if name == asked || asked == "" && name != "mint" {
			found = append(found, Balance{name, amount})
		}
	}
	return found, nil
}
