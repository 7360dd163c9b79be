// Package teller is a market's interface to its bank. Each call by a broker books one entry
// under a unique id, so that a repeated call is booked only once. An admission or a rejection
// has the id of the order that the contract's owner signed, and its note contains that order.
// A settlement or a penalty is an order of the market, which the teller signs.
//
// The teller waits as long as necessary for a bank that is unavailable. It is independent of
// the reasons for calls and of the contents of notes. The only exception is the balance in a
// rejection for insufficient funds.
package teller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"bourse/bank"
	"bourse/bank/order"
	"bourse/bank/owners"
	"bourse/bank/service"
	"bourse/bank/store"
)

// Room is the number of bytes of a note that the teller may use. The market may use the rest.
const Room = 1 << 11

// A Config configures a teller. All fields are required.
type Config struct {
	Bank   service.Ledger
	Ledger string                      // id of the ledger
	Market string                      // name of the market; "lab" has the account market:lab
	Key    string                      // private key of account market:Market
	Order  func(contract int64) []byte // function that returns the signed order for a contract

	// Budget returns the amount in the escrow of a contract. If it is nil, the budget never
	// changes.
	Budget func(contract int64) bank.Amount
}

// A Teller is the bank of one market. Except for Away, it must be used by only one goroutine.
type Teller struct {
	Config
	Receipt store.Receipt // receipt of the last call, or zero if it booked nothing

	ctx    context.Context
	names  []string
	byName map[string]bank.Account
	away   atomic.Bool
}

// New returns a teller that stops waiting when ctx is done.
func New(ctx context.Context, c Config) *Teller {
	return &Teller{Config: c, ctx: ctx, byName: make(map[string]bank.Account)}
}

// Own returns the market's own account.
func (t *Teller) Own() string { return "market:" + t.Market }

// Account returns the number of an account. Numbers are local to this teller.
func (t *Teller) Account(name string) bank.Account {
	a, ok := t.byName[name]
	if !ok {
		a = bank.Account(len(t.names))
		t.names = append(t.names, name)
		t.byName[name] = a
	}
	return a
}

// Names returns the names of all accounts, by number.
func (t *Teller) Names() []string { return t.names }

// Name returns the name of an account.
func (t *Teller) Name(a bank.Account) string { return t.names[a] }

// signed returns the signed order for a contract, as text and parsed.
func (t *Teller) signed(contract int64) ([]byte, *order.Signed, error) {
	text := t.Order(contract)
	o, err := order.Open(text)
	if err != nil {
		err = fmt.Errorf("contract %d: %w", contract, err)
	}
	return text, o, err
}

// Away reports whether the bank is unavailable at present.
func (t *Teller) Away() bool { return t.away.Load() }

// Hold moves an amount to escrow. It returns a [*bank.Shortfall] if the owner has too little,
// or an error wrapping [bank.ErrRefused] if no such order was signed.
func (t *Teller) Hold(now float64, contract int64, owner bank.Account, a bank.Amount, note []byte) error {
	text, o, err := t.signed(contract)
	if err != nil {
		return err
	}
	if name := t.names[owner]; o.Payer() != name || o.Money("budget") != a {
		return fmt.Errorf("contract %d: found an escrow of %v from %s, want the order's: %w", contract, a, name, bank.ErrRefused)
	}
	moves := []bank.Move{{From: t.names[owner], To: bank.EscrowName(contract), Amount: a}}
	e, err := owners.EntryOf(noted(text, note), contract, moves, now)
	if err == nil {
		err = t.do(e)
	}
	if errors.Is(err, store.ErrOtherBody) {
		return t.was(&e, err)
	}
	return err
}

// was returns the earlier reply to the order of e, an admission or rejection that differs from
// the booked entry. If the order was used for another contract, was returns a refusal. If an
// admission was rejected before, was returns the same shortfall for insufficient funds, and a
// refusal for a missing right.
func (t *Teller) was(e *bank.Entry, otherwise error) error {
	b, ok, err := t.answer(e.ID)
	switch {
	case err != nil:
		return err
	case ok && b.Contract != e.Contract:
		return fmt.Errorf("the order was used for contract %d: %w", b.Contract, bank.ErrRefused)
	case !ok || b.Kind != bank.Reject || e.Kind != bank.Admit:
		return otherwise
	}
	s, err := order.Open(b.Note)
	if err != nil {
		return errors.Join(otherwise, err)
	}
	var said struct {
		Reason  string
		Balance *bank.Amount
	}
	switch err := json.Unmarshal(s.Rest, &said); {
	case err == nil && said.Reason == unfunded && said.Balance != nil:
		return &bank.Shortfall{Account: e.Moves[0].From, Has: *said.Balance, Needs: e.Moves[0].Amount}
	case err == nil && said.Reason == notAllowed:
		return fmt.Errorf("the order was refused before: %w", bank.ErrRefused)
	}
	return otherwise
}

// unfunded and notAllowed are the reasons for a rejection because of insufficient funds and of
// a missing right to spend. These reasons, and the balance in a note with the reason unfunded,
// are the only parts of a note that the teller reads.
const (
	unfunded   = "unfunded"
	notAllowed = "refused by the bank"
)

// Reject records that a contract was refused. It records nothing if the order is not signed or
// has been used up.
func (t *Teller) Reject(now float64, contract int64, note []byte) error {
	text, _, err := t.signed(contract)
	if err != nil {
		return err
	}
	e, err := owners.EntryOf(noted(text, note), contract, nil, now)
	if err == nil {
		err = t.do(e)
	}
	if errors.Is(err, store.ErrOtherBody) {
		err = t.was(&e, err)
	}
	if errors.Is(err, bank.ErrRefused) {
		return nil
	}
	return err
}

// Adjust changes the budget of a contract to the budget in a signed order of kind bid. The
// argument held is the amount in the contract's escrow. It returns the same errors as Hold.
func (t *Teller) Adjust(now float64, contract int64, held bank.Amount, signed, note []byte) error {
	o, err := order.Open(signed)
	if err != nil {
		return fmt.Errorf("contract %d: %w", contract, err)
	}
	budget := o.Money("budget")
	more, err := budget.Sub(held)
	if err != nil {
		return fmt.Errorf("contract %d: %w", contract, err)
	}
	var moves []bank.Move
	if more.Sign() > 0 {
		moves = []bank.Move{{From: o.Value("account"), To: bank.EscrowName(contract), Amount: more}}
	} else if less, _ := held.Sub(budget); less.Sign() > 0 {
		moves = []bank.Move{{From: bank.EscrowName(contract), To: o.Value("account"), Amount: less}}
	}
	e, err := owners.EntryOf(noted(signed, note), contract, moves, now)
	if err != nil {
		return err
	}
	if err = t.do(e); errors.Is(err, store.ErrOtherBody) {
		return fmt.Errorf("the order was used before: %w", bank.ErrRefused)
	}
	return err
}

// Settle pays from a contract's escrow, refunds the rest, and returns the refund.
func (t *Teller) Settle(now float64, contract int64, pay []bank.Payment, note []byte) (bank.Amount, error) {
	_, o, err := t.signed(contract)
	if err != nil {
		return bank.Amount{}, err
	}
	held, escrow := o.Money("budget"), bank.EscrowName(contract)
	if t.Budget != nil {
		held = t.Budget(contract)
	}
	rest := held
	var moves []bank.Move
	for _, p := range pay {
		if p.Amount.Sign() == 0 {
			continue
		}
		left, err := rest.Sub(p.Amount)
		if err != nil || left.Sign() < 0 || p.Amount.Sign() < 0 {
			return bank.Amount{}, fmt.Errorf("settle contract %d: %w", contract, &bank.Shortfall{Account: escrow, Has: held, Needs: p.Amount})
		}
		rest = left
		moves = append(moves, bank.Move{From: escrow, To: t.names[p.To], Amount: p.Amount})
	}
	if rest.Sign() > 0 {
		moves = append(moves, bank.Move{From: escrow, To: o.Payer(), Amount: rest})
	}
	e, err := t.own("settle", now, contract, moves, note)
	if err == nil {
		err = t.do(e)
	}
	if err != nil {
		return bank.Amount{}, err
	}
	return rest, nil
}

// Return refunds the whole escrow of an unknown contract to its owner.
func (t *Teller) Return(now float64, contract int64, owner string, a bank.Amount, note []byte) error {
	e, err := t.own("settle", now, contract, []bank.Move{{From: bank.EscrowName(contract), To: owner, Amount: a}}, note)
	if err == nil {
		err = t.do(e)
	}
	return err
}

// Penalty pays a penalty for a contract from the market's own account, at most the account's
// balance, and returns the amount paid. The penalty is booked once: a repeated call returns the
// original amount.
func (t *Teller) Penalty(now float64, contract int64, from, to bank.Account, atMost bank.Amount, note []byte) (bank.Amount, error) {
	payer, owner := t.names[from], t.names[to]
	id := t.Own() + "/" + idOf(contract, "penalty")
	t.Receipt = store.Receipt{}
	for {
		if e, ok, err := t.answer(id); err != nil {
			return bank.Amount{}, err
		} else if ok && e.Kind == bank.Penalty {
			return e.Moves[0].Amount, nil
		}
		var has bank.Amount
		err := t.insist(func() (err error) {
			has, err = t.Bank.Balance(t.ctx, payer)
			return err
		})
		paid := atMost
		if has.Cmp(paid) < 0 {
			paid = has
		}
		if err != nil || paid.Sign() <= 0 {
			return bank.Amount{}, err
		}
		said := note
		if short, err := atMost.Sub(paid); err == nil && short.Sign() > 0 {
			said = Short(note, short)
		}
		e, err := t.own("penalty", now, contract, []bank.Move{{From: payer, To: owner, Amount: paid}}, said)
		if err == nil {
			err = t.do(e)
		}
		if err == nil {
			return paid, nil
		}
		if !errors.Is(err, bank.ErrInsufficientFunds) && !errors.Is(err, store.ErrOtherBody) {
			return bank.Amount{}, err
		}
	}
}

// Short returns the note of a penalty, extended by the amount that the payer could not pay.
func Short(note []byte, short bank.Amount) []byte {
	if len(note) < 2 || note[len(note)-1] != '}' {
		return note
	}
	return fmt.Appendf(slices.Clone(note[:len(note)-1]), `,"penalty_short":"%v"}`, short)
}

// lasts is the lifetime of the market's orders, in seconds. The lifetime can be long, because
// each order can be used only once and only as written. An order may have to wait for a bank
// that is unavailable.
const lasts = 30 * 24 * 3600

// own returns the entry of an order of the market. The same arguments result in the same bytes.
func (t *Teller) own(kind string, now float64, contract int64, moves []bank.Move, note []byte) (bank.Entry, error) {
	o, err := order.New(kind, order.Field{Name: "ledger", Value: t.Ledger},
		order.Field{Name: "id", Value: idOf(contract, kind)}, order.Field{Name: "account", Value: t.Own()},
		order.Field{Name: "contract", Value: strconv.FormatInt(contract, 10)}, order.Field{Name: "moves", Value: order.Digest(moves)},
		order.Expiry(now+lasts))
	if err != nil {
		return bank.Entry{}, err
	}
	signed, err := order.Sign([]byte(o.String()), t.Key)
	if err != nil {
		return bank.Entry{}, err
	}
	return owners.EntryOf(noted(signed, note), contract, moves, now)
}

// idOf returns the id of a market's only order of a kind for a contract.
func idOf(contract int64, kind string) string { return strconv.FormatInt(contract, 10) + "/" + kind }

// noted returns an order followed by a note.
func noted(signed, note []byte) []byte {
	return append(append(make([]byte, 0, len(signed)+len(note)), signed...), note...)
}

func (t *Teller) do(e bank.Entry) error {
	return t.insist(func() (err error) {
		t.Receipt, err = t.Bank.Do(t.ctx, e)
		return err
	})
}

// Booked returns the entry booked for a contract by a call of the given kind: hold, reject,
// settle or penalty. It ignores the other arguments of that call. The result ok is false if
// nothing was booked.
func (t *Teller) Booked(kind string, contract int64) (e bank.Entry, ok bool, err error) {
	id := t.Own() + "/" + idOf(contract, kind)
	if kind == "hold" || kind == "reject" {
		_, o, err := t.signed(contract)
		if err != nil {
			return e, false, err
		}
		id = o.Value("account") + "/" + o.Value("id")
	}
	return t.answer(id)
}

func (t *Teller) answer(id string) (e bank.Entry, ok bool, err error) {
	err = t.insist(func() (err error) {
		e, ok, err = t.Bank.Answer(t.ctx, id)
		return err
	})
	return e, ok, err
}

// These are the pauses between two calls to a bank that is unavailable.
const (
	firstWait = 50 * time.Millisecond
	mostWait  = 2 * time.Second
)

// silent is the time after which a bank that does not reply counts as unavailable. A remote
// bank's client retries by itself.
const silent = time.Second

// insist calls f until the bank replies.
func (t *Teller) insist(f func() error) error {
	var mu sync.Mutex
	answered := false
	late := time.AfterFunc(silent, func() {
		mu.Lock()
		defer mu.Unlock()
		if !answered {
			t.away.Store(true)
		}
	})
	defer func() {
		late.Stop()
		mu.Lock()
		defer mu.Unlock()
		answered = true
		t.away.Store(false)
	}()
	for wait := firstWait; ; wait = min(2*wait, mostWait) {
		err := f()
		if !errors.Is(err, store.ErrUnknown) && !errors.Is(err, store.ErrNotApplied) && !errors.Is(err, store.ErrClosed) && !errors.Is(err, store.ErrClock) {
			return err
		}
		t.away.Store(true)
		again := time.NewTimer(wait)
		select {
		case <-again.C:
		case <-t.ctx.Done():
			again.Stop()
			return errors.Join(t.ctx.Err(), err)
		}
	}
}
