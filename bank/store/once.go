package store

import (
	"context"
	"errors"

	"bourse/bank"
	"bourse/bank/order"
)

// Once books e, which carries a signed order, unless an order that differs from it in its
// expiry at most was answered under its id before, and returns the receipt, or the refusal,
// that one of them had: who signs an order again need not keep what was signed first.
func Once(ctx context.Context, bank interface {
	Do(ctx context.Context, e bank.Entry) (Receipt, error)
	Answer(ctx context.Context, id string) (bank.Entry, bool, error)
}, e bank.Entry) (Receipt, error) {
	r, err := bank.Do(ctx, e)
	if !errors.Is(err, ErrOtherBody) {
		return r, err
	}
	signed, wrong := order.Open(e.Note)
	if wrong != nil {
		return r, err
	}
	was, ok, wrong := bank.Answer(ctx, e.ID)
	if wrong != nil || !ok {
		return r, err
	}
	first, wrong := order.Open(was.Note)
	if wrong != nil || !signed.Repeats(first.Order) {
		return r, err
	}
	e.Note = was.Note[:len(was.Note)-len(first.Rest)]
	return bank.Do(ctx, e)
}
