package owners

import (
	"fmt"

	"bourse/bank"
	"bourse/bank/order"
)

// Entry returns the entry that a signed order requests by itself at time now: a transfer, an
// issue, or an owner record.
func Entry(signed []byte, now float64) (bank.Entry, error) {
	s, err := order.Open(signed)
	if err != nil {
		return bank.Entry{}, err
	}
	return entry(s, signed, now)
}

func entry(s *order.Signed, note []byte, now float64) (bank.Entry, error) {
	e := bank.Entry{Kind: entryOf[s.Kind], Contract: bank.NoContract, ID: s.Request(), Note: note, Time: now}
	m := bank.Move{From: s.Value("account"), To: s.Value("to"), Amount: s.Money("amount")}
	switch e.Kind {
	case bank.Issue:
		m.From = "mint"
		e.Moves = []bank.Move{m}
	case bank.Transfer:
		e.Moves = []bank.Move{m}
	case bank.Owner:
	default:
		return e, fmt.Errorf("found an order of kind %s, want one that states the whole entry", s.Kind)
	}
	return e, nil
}

// EntryOf returns the entry that a market writes for a signed order and its own decision. For
// an order of a user, it is an admission with one move, a rejection without moves, or a change
// of the budget. For an order of the market itself, it is a settlement or a penalty for the
// contract in the order.
func EntryOf(signed []byte, contract int64, moves []bank.Move, now float64) (bank.Entry, error) {
	s, err := order.Open(signed)
	if err != nil {
		return bank.Entry{}, err
	}
	e := bank.Entry{Kind: entryOf[s.Kind], Contract: contract, ID: s.Request(), Moves: moves, Note: signed, Time: now}
	switch e.Kind {
	case bank.Admit:
		if len(moves) == 0 {
			e.Kind = bank.Reject
		}
	case bank.Settle, bank.Penalty, bank.Adjust:
	default:
		return e, fmt.Errorf("found an order of kind %s with a contract or moves, want an order of a market", s.Kind)
	}
	return e, nil
}
