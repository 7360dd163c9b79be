package service

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"bourse/bank"
	"bourse/bank/wire"
)

// toWire converts an entry to its wire format.
func toWire(e *bank.Entry) *wire.Entry {
	w := &wire.Entry{Kind: e.Kind.String(), Id: e.ID, Seq: e.Seq, Time: e.Time}
	if e.Contract != bank.NoContract {
		w.Contract = &e.Contract
	}
	for _, m := range e.Moves {
		w.Moves = append(w.Moves, &wire.Move{From: m.From, To: m.To, Amount: m.Amount.String()})
	}
	if utf8.Valid(e.Note) {
		w.Note = string(e.Note)
	} else {
		w.Binary = e.Note
	}
	return w
}

// fromWire converts an entry from its wire format.
func fromWire(w *wire.Entry) (e bank.Entry, err error) {
	if err := e.Kind.UnmarshalText([]byte(w.GetKind())); err != nil {
		return e, err
	}
	e.ID, e.Seq, e.Time, e.Contract = w.GetId(), w.GetSeq(), w.GetTime(), bank.NoContract
	if w.Contract != nil {
		e.Contract = w.GetContract()
	}
	if e.Note = w.GetBinary(); len(e.Note) == 0 {
		e.Note = []byte(w.GetNote())
	} else if w.GetNote() != "" {
		return e, errors.New("found a note as both text and bytes, want only one")
	}
	if len(w.GetMoves()) > bank.MaxMoves || len(e.Note) > bank.MaxNote {
		return e, fmt.Errorf("found an entry of %d moves and a note of %d bytes, want at most %d and %d", len(w.GetMoves()), len(e.Note), bank.MaxMoves, bank.MaxNote)
	}
	for _, m := range w.GetMoves() {
		a, err := bank.Parse(m.GetAmount())
		if err != nil {
			return e, err
		}
		e.Moves = append(e.Moves, bank.Move{From: m.GetFrom(), To: m.GetTo(), Amount: a})
	}
	return e, nil
}
