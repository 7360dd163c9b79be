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
)

// An Order is a line that asks for a transfer, or, from "mint", for an issue.
type Order struct {
	ID     string      `json:"id"`
	From   string      `json:"from"`
	To     string      `json:"to"`
	Amount bank.Amount `json:"amount"`
}

// Entry returns the entry that the order asks for.
func (o Order) Entry(now float64) bank.Entry {
	e := bank.Entry{Time: now, ID: o.ID, Kind: bank.Transfer, Contract: bank.NoContract, Moves: []bank.Move{{From: o.From, To: o.To, Amount: o.Amount}}}
	if o.From == "mint" {
		e.Kind = bank.Issue
	}
	return e
}

// UnmarshalJSON reads an order of known fields only. The amount may be a number
// or a string, and is what [bank.Parse] reads either way.
func (o *Order) UnmarshalJSON(b []byte) error {
	var raw struct {
		ID, From, To string
		Amount       json.RawMessage
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&raw); err != nil {
		return err
	}
	o.ID, o.From, o.To = raw.ID, raw.From, raw.To
	return o.Amount.UnmarshalText(bytes.Trim(raw.Amount, `"`))
}

// An Outcome is the line that answers an order.
type Outcome struct {
	ID    string `json:"id"`
	Seq   int64  `json:"seq,omitempty"`
	Hash  string `json:"hash,omitempty"`  // in base64
	Error string `json:"error,omitempty"` // instead of the two
}

const maxOrder = 4096 // bytes of a line

// Apply reads orders from in, a JSON object a line, sends up to parallel at once,
// and writes an outcome to out for each as soon as it is durable, in the order in
// which they are. It returns an error if in or out fails, or the bank does; an order
// that is refused is an outcome. now tells the seconds since the ledger's origin.
func (s *Sequencer) Apply(ctx context.Context, in io.Reader, out io.Writer, parallel int, now func() float64) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	lines := make(chan []byte)
	outcomes := make(chan Outcome, parallel)
	var clients sync.WaitGroup
	for range max(parallel, 1) {
		clients.Go(func() {
			for line := range lines {
				o, err := s.order(ctx, line, now())
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
	for ctx.Err() == nil && scan.Scan() {
		if line := bytes.TrimSpace(scan.Bytes()); len(line) > 0 {
			lines <- bytes.Clone(line)
		}
	}
	close(lines)
	clients.Wait()
	close(outcomes)
	<-written
	if err := scan.Err(); err != nil {
		return fmt.Errorf("read orders: %w", err)
	}
	return context.Cause(ctx)
}

// order carries out the order in line.
func (s *Sequencer) order(ctx context.Context, line []byte, now float64) (Outcome, error) {
	var o Order
	err := json.Unmarshal(line, &o)
	var r Receipt
	if err == nil {
		r, err = s.Do(ctx, o.Entry(now))
	}
	if err != nil {
		return Outcome{ID: o.ID, Error: err.Error()}, err
	}
	return Outcome{ID: o.ID, Seq: r.Seq, Hash: r.Hash.String()}, nil
}
