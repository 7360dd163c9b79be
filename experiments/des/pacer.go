package des

import (
	"context"
	"time"
)

// A Pacer waits until a given time or until something happens earlier. It returns the time
// reached.
type Pacer interface {
	Wait(ctx context.Context, until float64) (now float64, err error)
}

// Virtual jumps to the next time without waiting. It checks the context every thousand
// steps.
type Virtual struct{ waits int }

// Wait implements [Pacer].
func (v *Virtual) Wait(ctx context.Context, until float64) (float64, error) {
	if v.waits++; v.waits%1000 == 0 {
		return until, ctx.Err()
	}
	return until, nil
}

// Wall waits in real time. Now returns the seconds since the start of the run. If Wake is not
// nil, a value sent on Wake ends a wait early.
type Wall struct {
	Now  func() float64
	Wake <-chan struct{}
}

// Wait implements [Pacer].
func (w Wall) Wait(ctx context.Context, until float64) (float64, error) {
	// Round up by a nanosecond, so that the time has passed when the wait ends. Wait at most
	// an hour, because the duration until a distant time may exceed the range of a Duration.
	t := time.NewTimer(time.Duration(min(until-w.Now(), 3600)*1e9) + 1)
	defer t.Stop()
	select {
	case <-t.C:
	case <-w.Wake:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	return w.Now(), nil
}
