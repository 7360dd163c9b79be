// Package des is the kernel of discrete-event simulation: it advances time.
//
// A run has a small number of event sources. Each source states the time of its next event.
// The kernel advances the source with the earliest event to that time. It repeats this
// until no source has more events. This is called next-event time advance. The sources
// store the event list themselves.
//
// Times are in seconds since the start of the run. The [Pacer] determines whether time is
// simulated or real. No other package reads a clock; the others receive the time as a
// parameter.
package des

import (
	"context"
	"fmt"
	"math"
)

// A Source is a source of events in a run.
type Source interface {
	// Next returns the time of the earliest event of the source, or +Inf if there is none.
	Next() float64

	// Advance processes every event due at now. Afterwards, Next must return a later time than
	// now. Now never decreases.
	Advance(now float64) error
}

// Run advances the sources in order of time until no source has a next event or the next
// event is after horizon. Sources with events at the same time are advanced in the given
// order.
func Run(ctx context.Context, p Pacer, horizon float64, sources ...Source) error {
	last, at := -1, 0.0 // source that was advanced last, and the time that it had returned
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
			return fmt.Errorf("event source %d did not advance beyond %v s", first, at)
		}
		now, err := p.Wait(ctx, next)
		if err != nil {
			return err
		}
		if now < next {
			continue // the wait ended early, so there may be an earlier event now
		}
		if err := sources[first].Advance(now); err != nil {
			return fmt.Errorf("at %v s: %w", now, err)
		}
		last, at = first, next
	}
}
