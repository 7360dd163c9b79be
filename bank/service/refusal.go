package service

import (
	"errors"

	"bourse/bank"
	"bourse/bank/store"
	"bourse/bank/wire"
)

// Reasons that no error of another room stands for.
const (
	malformed = "malformed" // what is asked for is no order, or no entry
	tooMany   = "too many"  // of an account, or of one who sends: ask again later
	failed    = "failed"    // for a reason that the text says
)

// refusal returns an error as it goes over the wire.
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

// A refused is the error that a refusal stands for: it says what the bank said, and is
// told apart as the bank's own.
type refused struct {
	text string
	is   error // nil for a reason that this client does not know
}

func (r *refused) Error() string { return r.text }
func (r *refused) Unwrap() error { return r.is }

// refusedBy returns the error that went over the wire.
func refusedBy(r *wire.Refusal) error {
	err := &refused{r.GetText(), store.Because(r.GetReason())}
	if err.is == nil { // for another reason the bank has refused it all the same
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
