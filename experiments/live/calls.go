package live

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"

	"bourse/bank"
	"bourse/bank/store"
	"bourse/bank/teller"
	"bourse/contracts"
	"bourse/contracts/note"
)

// A call is one request to the bank and the bank's answer.
type call struct {
	question
	reply

	was   bank.Amount // amount in escrow before the call, for a changed budget that is being checked
	order string      // signed order of an admission or rejection that is being checked
}

type question struct {
	Kind     string      `json:"kind"` // hold, adjust, settle, penalty, reject or return
	At       float64     `json:"at"`   // time in seconds
	Contract int64       `json:"contract"`
	Who      string      `json:"who,omitempty"`
	Order    string      `json:"order,omitempty"` // id of an order of kind bid
	Amount   bank.Amount `json:"amount,omitzero"`
	Pay      []payment   `json:"pay,omitempty"`
	Note     string      `json:"note"`
}

type payment struct {
	To     string      `json:"to"`
	Amount bank.Amount `json:"amount"`
}

type reply struct {
	Has     *bank.Amount `json:"has,omitempty"`     // account without enough money
	Moved   bank.Amount  `json:"moved,omitzero"`    // amount that was returned or paid
	Refused string       `json:"refused,omitempty"` // why nothing was booked
	Receipt string       `json:"receipt,omitempty"`
}

// errOtherwise means that this program decides differently from the version that wrote the
// log.
var errOtherwise = errors.New("this version decides differently from the version that wrote the log")

// A calls is the teller of a broker. It calls the bank and records the answers. While recorded
// answers remain, it returns them instead.
type calls struct {
	bank  *teller.Teller
	made  []call
	known []call         // recorded calls that have not been repeated yet
	again bool           // every answer is recorded, so the bank is not called
	free  func(f func()) // calls f without holding the lock, so that other callers can read the market; if nil, f is called directly
	bid   *bid           // changed budget that is being decided
	last  string         // receipt for the current contract, or the reason for a refusal
	why   string

	// charge returns the payments due when a contract ends, and the text of the ledger note.
	charge func(contract int64, pay []bank.Payment, note []byte) ([]bank.Payment, []byte, error)
}

// ask returns the recorded answer to q. If no answer is recorded, it calls f.
func (c *calls) ask(q question, f func(*reply) error) (r reply, err error) {
	switch {
	case len(c.known) > 0:
		if was := c.known[0].question; !reflect.DeepEqual(was, q) {
			return r, fmt.Errorf("%w: this version sends %+v to the bank, but the log contains %+v", errOtherwise, q, was)
		}
		r, c.known = c.known[0].reply, c.known[1:]
	case c.again:
		return r, fmt.Errorf("%w: this version sends %+v to the bank, but the log contains no call", errOtherwise, q)
	default:
		if ask := func() { err = f(&r) }; c.free != nil {
			c.free(ask)
		} else {
			ask()
		}
		var short *bank.Shortfall
		switch {
		case err == nil && c.bank.Receipt.Seq > 0:
			r.Receipt = c.bank.Receipt.String()
		case err == nil: // the bank booked no entry
		case (q.Kind == "hold" || q.Kind == "adjust") && errors.As(err, &short):
			r.Has = &short.Has
		case errors.Is(err, store.ErrOtherBody):
			return r, fmt.Errorf("%w: %w", errOtherwise, err)
		case store.Final(err):
			r.Refused = err.Error()
		default:
			return r, err
		}
	}
	c.made = append(c.made, call{question: q, reply: r})
	if c.last = cmp.Or(r.Receipt, c.last); q.Kind == "hold" || q.Kind == "adjust" {
		c.why = cmp.Or(r.Refused, c.why)
	}
	return r, nil
}

// settled returns the time of the settlement of a contract in the current step, and the bank's
// answer.
func (c *calls) settled(contract int64) (at float64, r reply) {
	for i := range c.made {
		if q := &c.made[i]; q.Kind == "settle" && q.Contract == contract {
			return q.At, q.reply
		}
	}
	panic("live: a contract ended but was not settled")
}

// Spare returns the number of bytes of each note that the teller may use.
func (c *calls) Spare() int { return teller.Room }

// Hold implements [broker.Teller].
func (c *calls) Hold(now float64, contract int64, owner bank.Account, a bank.Amount, note []byte) error {
	who := c.bank.Name(owner)
	r, err := c.ask(question{Kind: "hold", At: now, Contract: contract, Who: who, Amount: a, Note: string(note)}, func(*reply) error {
		return c.bank.Hold(now, contract, owner, a, note)
	})
	return r.moves(who, a, err)
}

// Adjust implements [broker.Teller].
func (c *calls) Adjust(now float64, contract int64, budget bank.Amount, note []byte) error {
	b := c.bid
	q := question{Kind: "adjust", At: now, Contract: contract, Who: b.contract.Account, Order: b.id, Amount: budget, Note: string(note)}
	r, err := c.ask(q, func(r *reply) error {
		return c.bank.Adjust(now, contract, b.contract.Budget, b.signed, note)
	})
	return r.moves(q.Who, budget, err)
}

// moves returns the error of a call that moves amount a from account who to escrow. The
// argument err means that the bank did not answer.
func (r *reply) moves(who string, a bank.Amount, err error) error {
	switch {
	case err != nil:
		return err
	case r.Has != nil:
		return &bank.Shortfall{Account: who, Has: *r.Has, Needs: a}
	case r.Refused != "":
		return fmt.Errorf("%s: %w", r.Refused, bank.ErrRefused)
	}
	return nil
}

// Settle implements [broker.Teller].
func (c *calls) Settle(now float64, contract int64, pay []bank.Payment, note []byte) (bank.Amount, error) {
	pay, note, err := c.charge(contract, pay, note)
	if err != nil {
		return bank.Amount{}, err
	}
	q := question{Kind: "settle", At: now, Contract: contract, Note: string(note)}
	for _, p := range pay {
		q.Pay = append(q.Pay, payment{c.bank.Name(p.To), p.Amount})
	}
	r, err := c.ask(q, func(r *reply) (err error) {
		r.Moved, err = c.bank.Settle(now, contract, pay, note)
		return err
	})
	return r.Moved, err
}

// Penalty implements [broker.Teller].
func (c *calls) Penalty(now float64, contract int64, from []bank.Debit, to bank.Account, note []byte) (bank.Amount, error) {
	// A market may move only its own money, so it pays the whole penalty itself.
	payer, atMost := c.bank.Account(c.bank.Own()), bank.Amount{}
	for _, d := range from {
		atMost, _ = atMost.Add(d.Most)
	}
	q := question{Kind: "penalty", At: now, Contract: contract, Who: c.bank.Name(to), Amount: atMost, Note: string(note)}
	r, err := c.ask(q, func(r *reply) (err error) {
		r.Moved, err = c.bank.Penalty(now, contract, payer, to, atMost, note)
		return err
	})
	return r.Moved, err
}

// giveBack refunds the escrow of an unknown contract.
func (c *calls) giveBack(now float64, o *orphan) (reply, error) {
	note := (&note.Verdict{State: contracts.Cancelled.State()}).Append(nil)
	return c.ask(question{Kind: "return", At: now, Contract: o.Contract, Who: o.Owner, Amount: o.Amount, Note: string(note)}, func(*reply) error {
		return c.bank.Return(now, o.Contract, o.Owner, o.Amount, note)
	})
}

// repeat sends a refused request to the bank again, with the current time.
func (c *calls) repeat(now float64, q question) (reply, error) {
	q.At = now
	return c.ask(q, func(r *reply) (err error) {
		switch q.Kind {
		case "settle":
			var pay []bank.Payment
			for _, p := range q.Pay {
				pay = append(pay, bank.Payment{To: c.bank.Account(p.To), Amount: p.Amount})
			}
			r.Moved, err = c.bank.Settle(now, q.Contract, pay, []byte(q.Note))
		case "penalty":
			r.Moved, err = c.bank.Penalty(now, q.Contract, c.bank.Account(c.bank.Own()), c.bank.Account(q.Who), q.Amount, []byte(q.Note))
		case "return":
			err = c.bank.Return(now, q.Contract, q.Who, q.Amount, []byte(q.Note))
		}
		return err
	})
}

// Reject implements [broker.Teller].
func (c *calls) Reject(now float64, contract int64, note []byte) error {
	_, err := c.ask(question{Kind: "reject", At: now, Contract: contract, Note: string(note)}, func(*reply) error {
		return c.bank.Reject(now, contract, note)
	})
	return err
}
