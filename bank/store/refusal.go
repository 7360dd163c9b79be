package store

import (
	"encoding/json"
	"errors"
	"fmt"

	"bourse/bank"
	"bourse/bank/owners"
)

// reasons maps the errors that callers distinguish to words. The first error that matches is
// used.
var reasons = []struct {
	word string
	is   error
}{
	{"unknown", ErrUnknown},
	{"not applied", ErrNotApplied},
	{"closed", ErrClosed},
	{"clock", ErrClock},
	{"other body", ErrOtherBody},
	{"refused", ErrRefused},
	{"insufficient funds", bank.ErrInsufficientFunds},
	{"bad amount", bank.ErrBadAmount},
	{"bad account", bank.ErrBadAccount},
	{"no escrow", bank.ErrNoEscrow},
	{"used contract", bank.ErrUsedContract},
	{"bad contract", bank.ErrBadContract},
	{"bad time", bank.ErrBadTime},
	{"bad entry", bank.ErrBadEntry},
}

// Reason returns the word for the error that err wraps, or "" if there is none.
func Reason(err error) string {
	for _, known := range reasons {
		if errors.Is(err, known.is) {
			return known.word
		}
	}
	return ""
}

// Because returns the error that word represents, or nil if there is none.
func Because(word string) error {
	for _, known := range reasons {
		if known.word == word {
			return known.is
		}
	}
	return nil
}

// Final reports whether err is the ledger's decision not to book a request in its current
// state. Any other error means that the outcome is unknown or that the client should retry.
func Final(err error) bool {
	switch Reason(err) {
	case "", "unknown", "not applied", "closed", "clock", "other body":
		return false
	}
	return true
}

// A refusal is the final reply to a signed order that was refused. The entry for the order
// stores the refusal as JSON, so that every copy of the ledger gives the same reply.
type refusal struct {
	Reason string `json:"refused"`
	Text   string `json:"text"`

	// Account is set if the funds of this account are insufficient.
	Account string       `json:"account,omitempty"`
	Has     *bank.Amount `json:"has,omitempty"`
	Needs   *bank.Amount `json:"needs,omitempty"`
}

func newRefusal(err error) *refusal {
	r := &refusal{Reason: Reason(err), Text: err.Error() + "; the refusal is final and the id cannot be used again"}
	var short *bank.Shortfall
	if errors.As(err, &short) {
		r.Account, r.Has, r.Needs = short.Account, &short.Has, &short.Needs
	}
	return r
}

// Error implements [error].
func (r *refusal) Error() string { return r.Text }

// Unwrap returns the error that the refusal represents.
func (r *refusal) Unwrap() error {
	if r.Has != nil && r.Needs != nil {
		return &bank.Shortfall{Account: r.Account, Has: *r.Has, Needs: *r.Needs}
	}
	return Because(r.Reason)
}

// refuse returns the reply to e, which the ledger refuses because of err. A final refusal is
// booked instead of e. The entry of the refusal uses up the id of the order, so the order can
// never be booked.
func (s *Sequencer) refuse(e *bank.Entry, signed *owners.Signed, err error) error {
	if s.journal.err != nil || !s.journal.owners.Final(e, signed) {
		return err
	}
	r := newRefusal(err)
	text, wrong := json.Marshal(r)
	if wrong != nil {
		return errors.Join(err, wrong)
	}
	record := bank.Entry{Time: e.Time, Kind: bank.Refuse, Contract: bank.NoContract, ID: e.ID, Note: append(append([]byte(nil), e.Note...), text...)}
	if wrong := s.ledger.Book(&record); wrong != nil {
		return errors.Join(err, wrong)
	}
	return r
}

// again returns the earlier reply to e, whose id was used for entry a.Seq. An order is
// identified by its signed text, regardless of the sender and the time.
func (s *Sequencer) again(e *bank.Entry, signed *owners.Signed, a answered) (Receipt, error) {
	other := fmt.Errorf("request %s, entry %d: %w", e.ID, a.Seq, ErrOtherBody)
	if signed == nil || !owners.Whole(e, signed) {
		return Receipt{}, other
	}
	was, err := s.journal.entry(a.Seq)
	if err != nil {
		return Receipt{}, err
	}
	first := owners.Open(was.Note)
	if !s.journal.owners.Same(first, signed) {
		return Receipt{}, other
	}
	if was.Kind != bank.Refuse {
		return a.Receipt, nil
	}
	r := new(refusal)
	if err := json.Unmarshal(first.Rest, r); err != nil {
		return Receipt{}, fmt.Errorf("refusal of request %s: %w", e.ID, err)
	}
	return Receipt{}, r
}
