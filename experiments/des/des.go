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
	last, at := -1, 0.0 // the source advanced last, and the instant that it had named
	for {
		first, next := -1, math.Inf(1)
		for i, s := range sources {
			if due := s.Next(); due < next {
				first, next = i, due
			}
		}
		if first < 0 || next > horizon {
			return nil
		}
		if first == last && next <= at {
			return fmt.Errorf("source %d is stuck at %v s", first, at)
		}
		now, err := p.Wait(ctx, next)
		if err != nil {
			return err
		}
		if now < next {
			continue // woken: there may be something sooner
		}
		if err := sources[first].Advance(now); err != nil {
			return fmt.Errorf("at %v s: %w", now, err)
		}
		last, at = first, next
	}
}
