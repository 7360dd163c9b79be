package store

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"bourse/bank"
	"bourse/bank/canonical"
	"bourse/bank/owners"
)

// An Order is a line that requests a transfer, or an issue if From is "mint".
type Order struct {
	ID     string      `json:"id"`
	From   string      `json:"from"`
	To     string      `json:"to"`
	Amount bank.Amount `json:"amount"`
}

// Entry returns the entry that the order requests, at time now.
func (o Order) Entry(now float64) bank.Entry {
	e := bank.Entry{Time: now, ID: o.ID, Kind: bank.Transfer, Contract: bank.NoContract, Moves: []bank.Move{{From: o.From, To: o.To, Amount: o.Amount}}}
	if o.From == "mint" {
		e.Kind = bank.Issue
	}
	return e
}

// UnmarshalJSON parses an order with all four fields, each exactly once. The amount may be a
// number or a string, in the syntax of [bank.Parse]. An order without an id would be booked
// each time it is sent, so it is rejected.
func (o *Order) UnmarshalJSON(b []byte) error {
	names := [...]string{"id", "from", "to", "amount"}
	fields, err := canonical.Fields(b, names[:]...)
	if err != nil {
		return err
	}
	for i, s := range [...]*string{&o.ID, &o.From, &o.To} {
		if fields[names[i]] == nil {
			continue
		}
		var v any
		if err := json.Unmarshal(fields[names[i]], &v); err != nil {
			return err
		}
		var ok bool
		if *s, ok = v.(string); !ok {
			return fmt.Errorf("%s: found %.60s, want a string", names[i], fields[names[i]])
		}
	}
	if o.ID == "" {
		return errors.New("id is missing: it ensures that a repeated order is booked only once")
	}
	for _, name := range names[1:] {
		if fields[name] == nil {
			return fmt.Errorf("%s is missing, want id, from, to and amount", name)
		}
	}
	amount := fields["amount"]
	if n := len(amount); n > 1 && amount[0] == '"' && amount[n-1] == '"' {
		amount = amount[1 : n-1] // an amount contains no escapes
	}
	return o.Amount.UnmarshalText(amount)
}

// A signedLine is a line with a signed order. If a market acts on the order, the line also
// contains the contract and the moves.
type signedLine struct {
	Order    string       `json:"order"`
	Contract *int64       `json:"contract"`
	Moves    []signedMove `json:"moves"`
}

type signedMove struct {
	From   string      `json:"from"`
	To     string      `json:"to"`
	Amount bank.Amount `json:"amount"`
}

// UnmarshalJSON parses a move with all three fields, each exactly once.
func (m *signedMove) UnmarshalJSON(b []byte) error {
	fields, err := canonical.Fields(b, "from", "to", "amount")
	if err != nil {
		return err
	}
	if len(fields) < 3 {
		return errors.New("found a move without from, to or amount, want all three")
	}
	type plain signedMove // type without this method
	return json.Unmarshal(b, (*plain)(m))
}

// entry returns the entry that a line requests.
func entry(line []byte, now float64) (bank.Entry, error) {
	if !bytes.Contains(line, []byte(`"order":`)) {
		var o Order
		err := o.UnmarshalJSON(line)
		return o.Entry(now), err
	}
	if _, err := canonical.Fields(line, "order", "contract", "moves"); err != nil {
		return bank.Entry{}, err
	}
	var s signedLine
	if err := json.Unmarshal(line, &s); err != nil {
		return bank.Entry{}, err
	}
	if s.Contract == nil && s.Moves == nil {
		return owners.Entry([]byte(s.Order), now)
	}
	if s.Contract == nil {
		return bank.Entry{}, errors.New("contract is missing: moves must belong to a contract")
	}
	moves := make([]bank.Move, len(s.Moves))
	for i, m := range s.Moves {
		moves[i] = bank.Move(m)
	}
	return owners.EntryOf([]byte(s.Order), *s.Contract, moves, now)
}

// An Outcome is the reply to one order, written as one line.
type Outcome struct {
	ID    string `json:"id"`
	Seq   int64  `json:"seq,omitempty"`
	Hash  string `json:"hash,omitempty" doc:"hash of the entry, in base64"`
	Error string `json:"error,omitempty" doc:"error, instead of receipt and note"`
	Mode  string `json:"mode,omitempty" doc:"mode of the bank, open or owned, if a single order was sent"`
}

const maxOrder = 4096 // maximum number of bytes per line

// Apply reads orders from in, one JSON object per line, either plain or containing a signed
// order. It calls do, such as [Sequencer.Do], for at most parallel orders at the same time.
// When the outcome of an order is durable, Apply writes the outcome to out, so outcomes are in
// the order in which they become durable.
//
// Apply returns an error if in or out fails or the bank becomes unavailable. The refusal of an
// order is an outcome. A malformed line is also an outcome, with its line number. The function
// now returns the seconds since the ledger's epoch.
func Apply(ctx context.Context, do func(context.Context, bank.Entry) (Receipt, error), in io.Reader, out io.Writer, parallel int, now func() float64) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	lines := make(chan orderLine)
	outcomes := make(chan Outcome, parallel)
	var clients sync.WaitGroup
	for range max(parallel, 1) {
		clients.Go(func() {
			for line := range lines {
				o, err := line.order(ctx, do, now())
				if errors.Is(err, ErrUnknown) || errors.Is(err, ErrClosed) {
					cancel(err)
				}
				outcomes <- o
			}
		})
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		for o := range outcomes {
			if err := enc.Encode(o); err != nil {
				cancel(fmt.Errorf("write outcomes: %w", err))
			}
		}
	}()
	scan := bufio.NewScanner(in)
	scan.Buffer(nil, maxOrder)
	n := 1
	for ; ctx.Err() == nil && scan.Scan(); n++ {
		if line := bytes.TrimSpace(scan.Bytes()); len(line) > 0 {
			lines <- orderLine{n, bytes.Clone(line)}
		}
	}
	close(lines)
	clients.Wait()
	close(outcomes)
	<-written
	if err := scan.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("line %d: found more than %d bytes, want an order: %w", n, maxOrder, err)
	} else if err != nil {
		return fmt.Errorf("read orders: %w", err)
	}
	return context.Cause(ctx)
}

// An orderLine is one line of the input, with its number n, counted from 1.
type orderLine struct {
	n    int
	text []byte
}

// order parses the order on line, passes it to do and returns the outcome.
func (line orderLine) order(ctx context.Context, do func(context.Context, bank.Entry) (Receipt, error), now float64) (Outcome, error) {
	e, err := entry(line.text, now)
	if err != nil {
		err = fmt.Errorf("line %d: %w", line.n, err)
		return Outcome{ID: e.ID, Error: err.Error()}, err
	}
	r, err := do(ctx, e)
	if err != nil {
		return Outcome{ID: e.ID, Error: err.Error()}, err
	}
	return Outcome{ID: e.ID, Seq: r.Seq, Hash: r.Hash.String()}, nil
}
