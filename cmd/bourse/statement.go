package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"bourse/bank"
	"bourse/bank/export"
	"bourse/bank/place"
	notes "bourse/contracts/note"

	"github.com/urfave/cli/v2"
)

func statementCommand() *cli.Command {
	return &cli.Command{
		Name:      "statement",
		Usage:     "print what became of a user's money, contract by contract",
		ArgsUsage: "DIR",
		Description: `Opening balance, what else moved, each contract (budget, what decided, charges by
host, refund, verdict, penalty), closing balance. A contract is whose budget it had.
Requests that were refused moved no money and name nobody: 'ledger show' has them.

   bourse ledger statement results/paper/ledger/pareto-high/be/0 --user 2
   bourse ledger statement books --user user:ann --since 1000 --json`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "user", Usage: "state account `U`, such as user:7, or 7 for short"},
			&cli.Int64Flag{Name: "since", Usage: "begin after entry `N`; contracts that had ended are left out"},
			jsonFlag(),
		},
		Action: statementAction,
	}
}

func statementAction(c *cli.Context) error {
	user := c.String("user")
	if user == "" {
		return usagef("%s: --user is missing", commandName(c))
	}
	if '0' <= user[0] && user[0] <= '9' {
		user = "user:" + user
	}
	if err := bank.CheckName(user); err != nil {
		return usagef("--user: %w", err)
	}
	since := c.Int64("since")
	if since < 0 {
		return usagef("--since: found %d, want the number of an entry", since)
	}
	var s *statement
	err := withEntries(c, func(_ io.Writer, entries export.Entries) error {
		s = newStatement(user, since)
		for e := range entries {
			if err := s.add(e); err != nil {
				return fmt.Errorf("statement of %s: entry %d: %w", user, e.Seq, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !s.known {
		return usagef("%s: no entry concerns %s", place.At(c.Args().First()), user)
	}
	if c.Bool("json") {
		return printJSON(c, s)
	}
	return buffered(c, c.App.Writer, s.print)
}

// A statement is what became of the money of one account.
type statement struct {
	Account   string            `json:"account"`
	Since     int64             `json:"since"` // the last entry before it, 0 if there is none
	Opening   bank.Amount       `json:"opening"`
	Others    []otherMove       `json:"others"` // that belong to no contract of the account
	Contracts []*statedContract `json:"contracts"`
	Closing   bank.Amount       `json:"closing"`
	Held      bank.Amount       `json:"held"` // in escrow at the end, besides

	known bool
	owned map[int64]*statedContract
}

// An otherMove is money that came, or went.
type otherMove struct {
	Entry    int64       `json:"entry"`
	Time     float64     `json:"time"` // seconds
	Kind     bank.Kind   `json:"kind"`
	ID       string      `json:"id,omitempty"`
	Contract *int64      `json:"contract,omitempty"` // of somebody else
	With     string      `json:"with"`
	Amount   bank.Amount `json:"amount"` // negative if it went
}

// A statedContract is one that the account paid for.
type statedContract struct {
	Contract int64           `json:"contract"`
	Admitted float64         `json:"admitted"` // seconds
	Budget   bank.Amount     `json:"budget"`
	Decision json.RawMessage `json:"decision,omitempty"` // what decided
	Settled  *float64        `json:"settled,omitempty"`  // seconds; none while it is open
	Charges  []charge        `json:"charges"`            // in order of entry
	Cost     bank.Amount     `json:"cost"`               // charges in all
	Refund   bank.Amount     `json:"refund"`
	Verdict  string          `json:"verdict"`           // open, or as its settlement says
	Outcome  json.RawMessage `json:"outcome,omitempty"` // all that its settlement says
	Penalty  bank.Amount     `json:"penalty"`           // paid to the account
}

// A charge is what one host was paid.
type charge struct {
	To     string      `json:"to"`
	Amount bank.Amount `json:"amount"`
}

func newStatement(account string, since int64) *statement {
	return &statement{
		Account:   account,
		Since:     since,
		Others:    []otherMove{},
		Contracts: []*statedContract{},
		owned:     make(map[int64]*statedContract),
	}
}

// add takes in the next entry.
func (s *statement) add(e *bank.Entry) error {
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

// move takes in a move of e, which is of contract k of the account, or nil.
func (s *statement) move(e *bank.Entry, m bank.Move, k *statedContract) (err error) {
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
		k = &statedContract{Contract: e.Contract, Admitted: e.Time, Budget: m.Amount, Decision: rawNote(e.Note), Charges: []charge{}, Verdict: "open"}
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
	k.Settled, k.Verdict, k.Outcome = &now, "settled", rawNote(e.Note)
	if v, err := notes.ParseVerdict(e.Note); err == nil && v.State != "" {
		k.Verdict = v.State
	}
}

// charged returns what host to has been paid.
func (k *statedContract) charged(to string) *bank.Amount {
	for i := range k.Charges {
		if k.Charges[i].To == to {
			return &k.Charges[i].Amount
		}
	}
	k.Charges = append(k.Charges, charge{To: to})
	return &k.Charges[len(k.Charges)-1].Amount
}

// rawNote returns a note as JSON: itself, or a text.
func rawNote(note []byte) json.RawMessage {
	if len(note) == 0 {
		return nil
	}
	if json.Valid(note) {
		return append(json.RawMessage{}, note...)
	}
	text, _ := json.Marshal(string(note)) // a string has JSON
	return text
}
