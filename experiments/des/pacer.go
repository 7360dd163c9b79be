package des

import (
	"context"
	"time"
)

// A Pacer lets time pass until an instant, or until something happens sooner,
// and returns the instant reached.
type Pacer interface {
	Wait(ctx context.Context, until float64) (now float64, err error)
}

// Virtual jumps to the next instant at once. It looks at the context every
// thousand instants.
type Virtual struct{ waits int }

// Wait implements [Pacer].
func (v *Virtual) Wait(ctx context.Context, until float64) (float64, error) {
	if v.waits++; v.waits%1000 == 0 {
		return until, ctx.Err()
	}
	return until, nil
}

// Wall waits in real time, of which Now tells the seconds since the origin. A send on
// Wake, if it is not nil, ends a wait early.
type Wall struct {
	Now  func() float64
	Wake <-chan struct{}
}

// Wait implements [Pacer].
func (w Wall) Wait(ctx context.Context, until float64) (float64, error) {
	// Rounded up to the nanosecond, so that the instant has come; an hour at most, since
	// what is far away may be beyond what a Duration says.
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
