package service

import (
	"errors"

	"bourse/bank"
	"bourse/bank/store"
	"bourse/bank/wire"
)

// These are reasons that do not correspond to an error of another package.
const (
	malformed = "malformed" // the request is not a valid order or entry
	tooMany   = "too many"  // too many requests from one account or sender; the client should retry later
	failed    = "failed"    // another reason, which the text states
)

// refusal converts an error to its wire format.
func refusal(err error) *wire.Refusal {
	r := &wire.Refusal{Reason: failed, Text: err.Error()}
	if word := store.Reason(err); word != "" {
		r.Reason = word
	}
	var short *bank.Shortfall
	if errors.As(err, &short) {
		r.Shortfall = &wire.Shortfall{Account: short.Account, Has: short.Has.String(), Needs: short.Needs.String()}
	}
	return r
}

// A refused is the error that a refusal represents. It contains the text from the bank and
// wraps the corresponding error of this program.
type refused struct {
	text string
	is   error // nil if this client does not know the reason
}

func (r *refused) Error() string { return r.text }
func (r *refused) Unwrap() error { return r.is }

// refusedBy converts a refusal from its wire format to an error.
func refusedBy(r *wire.Refusal) error {
	err := &refused{r.GetText(), store.Because(r.GetReason())}
	if err.is == nil { // the bank refused the request for a reason that this client does not know
		err.is = bank.ErrRefused
	}
	if s := r.GetShortfall(); s != nil {
		has, err1 := bank.Parse(s.GetHas())
		needs, err2 := bank.Parse(s.GetNeeds())
		if errors.Join(err1, err2) == nil {
			err.is = &bank.Shortfall{Account: s.GetAccount(), Has: has, Needs: needs}
		}
	}
	return err
}
