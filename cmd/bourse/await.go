package main

import (
	"context"

	"bourse/experiments/recovered"
)

// await calls f and returns its result. If the user interrupts the program first, await
// returns only the interruption. The function f opens or reads a file, and may wait
// indefinitely for the other end of a pipe. After an interrupt, f is abandoned. It must
// therefore leave no files behind.
func await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		r.err = recovered.Do(func() (err error) {
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
