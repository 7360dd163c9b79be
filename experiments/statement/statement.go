// Package statement reports the transfers of one account's money, contract by contract. It
// reads the entries of a ledger. The package is independent of the location of the ledger. It
// does not audit the ledger.
package statement

import (
	"encoding/json"
	"fmt"
	"slices"

	"bourse/bank"
	"bourse/bank/export"
	"bourse/bank/order"
	"bourse/contracts/note"
)

// A Statement lists all transfers of one account's money.
type Statement struct {
	Account   string            `json:"account"`
	Since     int64             `json:"since" doc:"number of the last entry before the statement; 0 if there is none"`
	Opening   bank.Amount       `json:"opening"`
	Others    []otherMove       `json:"others" doc:"transfers that do not belong to a contract of the account"`
	Contracts []*statedContract `json:"contracts"`
	Closing   bank.Amount       `json:"closing"`
	Held      bank.Amount       `json:"held" doc:"amount still in escrow at the end"`

	known bool
	owned map[int64]*statedContract
}

// An otherMove is a transfer that does not belong to a contract.
type otherMove struct {
	Entry    int64       `json:"entry"`
	Time     float64     `json:"time" doc:"time, s"`
	Kind     bank.Kind   `json:"kind"`
	ID       string      `json:"id,omitempty"`
	Contract *int64      `json:"contract,omitempty" doc:"number of the contract, which belongs to another account"`
	With     string      `json:"with"`
	Amount   bank.Amount `json:"amount" doc:"amount; negative if the account paid it"`
}

// A statedContract is a contract that the account has paid for.
type statedContract struct {
	Contract int64           `json:"contract"`
	Admitted float64         `json:"admitted" doc:"time of the admission, in seconds"`
	Budget   bank.Amount     `json:"budget"`
	Decision json.RawMessage `json:"decision,omitempty" doc:"decision and the numbers on which it is based"`
	Settled  *float64        `json:"settled,omitempty" doc:"time of the settlement, s; omitted while the contract is open"`
	Charges  []charge        `json:"charges" doc:"transfers in the order of the ledger entries"`
	Cost     bank.Amount     `json:"cost" doc:"sum of the charges"`
	Refund   bank.Amount     `json:"refund"`
	Verdict  string          `json:"verdict" doc:"open, or the outcome stated in the settlement"`
	Outcome  json.RawMessage `json:"outcome,omitempty" doc:"all fields of the settlement"`
	Penalty  bank.Amount     `json:"penalty" doc:"amount paid to the account"`
}

// A charge is the payment to one host.
type charge struct {
	To     string      `json:"to"`
	Amount bank.Amount `json:"amount"`
}

// Of returns the statement of an account for the entries after number after; 0 means from
// the beginning. It returns nil if no entry concerns the account.
func Of(account string, since int64, entries export.Entries) (*Statement, error) {
	s := &Statement{
		Account: account, Since: since,
		Others: []otherMove{}, Contracts: []*statedContract{}, owned: make(map[int64]*statedContract),
	}
	for e := range entries {
		if err := s.add(e); err != nil {
			return nil, fmt.Errorf("statement of %s: entry %d: %w", account, e.Seq, err)
		}
	}
	if !s.known {
		return nil, nil
	}
	return s, nil
}

// add processes the next entry.
func (s *Statement) add(e *bank.Entry) error {
	k := s.owned[e.Contract]
	if k != nil && e.Kind == bank.Settle {
		k.settle(e)
		if e.Seq > s.Since {
			s.known = true
		} else {
			delete(s.owned, e.Contract)
			s.Contracts = slices.DeleteFunc(s.Contracts, func(o *statedContract) bool { return o == k })
		}
	}
	for _, m := range e.Moves {
		if err := s.move(e, m, k); err != nil {
			return err
		}
	}
	if e.Seq <= s.Since {
		s.Opening = s.Closing
	}
	return nil
}

// move processes one transfer of entry e. The transfer belongs to contract k of the
// account, or to no contract if k is nil.
func (s *Statement) move(e *bank.Entry, m bank.Move, k *statedContract) (err error) {
	in, out := m.To == s.Account, m.From == s.Account
	add := func(to *bank.Amount) {
		if err == nil {
			*to, err = to.Add(m.Amount)
		}
	}
	take := func(from *bank.Amount) {
		if err == nil {
			*from, err = from.Sub(m.Amount)
		}
	}
	if in {
		add(&s.Closing)
	}
	if out {
		take(&s.Closing)
	}
	s.known = s.known || in || out
	switch {
	case e.Kind == bank.Admit && out:
		k = &statedContract{Contract: e.Contract, Admitted: e.Time, Budget: m.Amount, Decision: rawNote(said(e)), Charges: []charge{}, Verdict: "open"}
		s.owned[e.Contract] = k
		s.Contracts = append(s.Contracts, k)
		add(&s.Held)
	case k != nil && e.Kind == bank.Settle:
		take(&s.Held)
		if in {
			add(&k.Refund)
			break
		}
		add(&k.Cost)
		add(k.charged(m.To))
	case k != nil && e.Kind == bank.Penalty && in:
		add(&k.Penalty)
	case (in || out) && e.Seq > s.Since:
		o := otherMove{Entry: e.Seq, Time: e.Time, Kind: e.Kind, ID: e.ID, With: m.From, Amount: m.Amount}
		if out {
			o.With, o.Amount = m.To, bank.Micros(-m.Amount.Micros())
		}
		if e.Contract != bank.NoContract {
			contract := e.Contract
			o.Contract = &contract
		}
		s.Others = append(s.Others, o)
	}
	return err
}

func (k *statedContract) settle(e *bank.Entry) {
	now := e.Time
	k.Settled, k.Verdict, k.Outcome = &now, "settled", rawNote(said(e))
	if v, err := note.ParseVerdict(said(e)); err == nil && v.State != "" {
		k.Verdict = v.State
	}
}

// charged returns the charge paid to host to.
func (k *statedContract) charged(to string) *bank.Amount {
	for i := range k.Charges {
		if k.Charges[i].To == to {
			return &k.Charges[i].Amount
		}
	}
	k.Charges = append(k.Charges, charge{To: to})
	return &k.Charges[len(k.Charges)-1].Amount
}

// said returns the text of e's note. If the ledger is owned, it is the text after the order.
func said(e *bank.Entry) []byte {
	if s, err := order.Open(e.Note); err == nil {
		return s.Rest
	}
	return e.Note
}

// rawNote returns a note as JSON. A note that is not JSON becomes a string.
func rawNote(text []byte) json.RawMessage {
	if len(text) == 0 {
		return nil
	}
	if json.Valid(text) {
		return append(json.RawMessage{}, text...)
	}
	quoted, _ := json.Marshal(string(text)) // a string can always be encoded
	return quoted
}
