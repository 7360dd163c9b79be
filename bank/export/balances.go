package export

import "bourse/bank"

// A Balance is what an account holds.
type Balance struct {
	Account string      `json:"account"`
	Amount  bank.Amount `json:"amount"`
}

// Balances returns what all accounts but the mint hold after the entries, in order of
// their first; or, if one is asked for, what that holds, paid or not.
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
