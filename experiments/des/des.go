// Package des is the discrete-event kernel, which advances time.
//
// A run has a few sources. Each source names its next event time. The kernel advances the
// earliest source to its time, and repeats this until no source has more to do. This is
// next-event time advance; the sources store the event list themselves.
//
// Times are seconds since the origin of the run. The [Pacer] decides whether time is
// simulated or real. No other package reads a clock; each receives the time as a parameter.
package des

import (
	"context"
	"fmt"
	"math"
)

// A Source takes part in a run.
type Source interface {
	// Next returns the earliest time at which the source has something to do, or +Inf if
	// there is none.
	Next() float64

	// Advance does everything that is due at now, and moves Next beyond that time. Now never
	// decreases.
	Advance(now float64) error
}

// Run advances sources in order of time, those due at the same time in the given order, until
// none has a next time or the next time is after horizon.
func Run(ctx context.Context, p Pacer, horizon float64, sources ...Source) error {
	last, at := -1, 0.0 // the source advanced last, and the time that it had named
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
			continue // woken: there may be an earlier event
		}
		if err := sources[first].Advance(now); err != nil {
			return fmt.Errorf("at %v s: %w", now, err)
		}
		last, at = first, next
	}
}
