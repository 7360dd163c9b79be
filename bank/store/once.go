package store

import (
	"context"
	"errors"

	"bourse/bank"
	"bourse/bank/owners"
)

// Once books e, which must contain a signed order. An order with the same id may have been
// answered before. If the two orders differ at most in their expiry, Once returns the receipt
// or refusal of the earlier order. A client that signs an order again therefore need not store
// the first version.
func Once(ctx context.Context, bank interface {
	Do(ctx context.Context, e bank.Entry) (Receipt, error)
	Answer(ctx context.Context, id string) (bank.Entry, bool, error)
}, e bank.Entry) (Receipt, error) {
	r, err := bank.Do(ctx, e)
	if !errors.Is(err, ErrOtherBody) {
		return r, err
	}
	signed := owners.Open(e.Note)
	if signed == nil {
		return r, err
	}
	was, ok, wrong := bank.Answer(ctx, e.ID)
	if wrong != nil || !ok {
		return r, err
	}
	first := owners.Open(was.Note)
	if first == nil || !signed.Repeats(first.Order) {
		return r, err
	}
	e.Note = was.Note[:len(was.Note)-len(first.Rest)]
	return bank.Do(ctx, e)
}
