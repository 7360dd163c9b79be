// Package des is the discrete-event kernel: it lets time pass.
//
// A run is a few sources. Each names the next instant it cares about; the
// earliest is brought to that instant; and so on until none has more to do.
// This is the next-event time advance, with the event list kept by the sources
// themselves.
//
// Instants are seconds since the origin of the run. Whether time is simulated
// or real is the [Pacer]'s business. No other package asks what time it is;
// each is told.
package des

import (
	"context"
	"fmt"
	"math"
)

// A Source takes part in a run.
type Source interface {
	// Next returns the earliest instant at which the source has something to
	// do, +Inf if there is none.
	Next() float64

	// Advance does all that is due at now and moves Next past the instant it
	// named. Now never decreases.
	Advance(now float64) error
}

// Run advances sources in order of time, those due at the same instant in the
// order given, until none has a next instant or the next is after horizon.
func Run(ctx context.Context, p Pacer, horizon float64, sources ...Source) error {
	for {
		next := math.Inf(1)
		for _, s := range sources {
			next = min(next, s.Next())
		}
		if next > horizon || math.IsInf(next, 1) {
			return nil
		}
		now, err := p.Wait(ctx, next)
		if err != nil {
			return err
		}
		for i, s := range sources {
			at := s.Next()
			if at > now {
				continue
			}
			if err := s.Advance(now); err != nil {
				return fmt.Errorf("at %v s: %w", now, err)
			}
			if s.Next() <= at {
				return fmt.Errorf("source %d is stuck at %v s", i, at)
			}
		}
	}
}
