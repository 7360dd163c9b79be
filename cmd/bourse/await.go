package main

import (
	"context"

	"bourse/experiments/rescue"
)

// await returns what f returns, or, once the user interrupts, that error alone: f opens
// or reads what the user named, and may wait for ever for the other end of a pipe. It
// is left behind then, and leaves nothing.
func await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		r.err = rescue.Do(func() (err error) {
			r.value, err = f()
			return err
		})
		done <- r
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
