package live

import (
	"time"

	"bourse/bank"
)

// A Clock tells the seconds since 2000-01-01 UTC, and never goes back.
type Clock interface{ Now() float64 }

// A BootClock is a [Clock] that begins where the wall clock stands, or at an instant that is
// known to be past if that is later, and goes on by CLOCK_BOOTTIME: what is done to the wall
// clock then is not seen, and time in which the machine sleeps counts.
type BootClock struct{ origin, begun float64 }

// NewBootClock returns a clock that begins no sooner than at an instant.
func NewBootClock(last float64) *BootClock { return &BootClock{max(wall(), last), boot()} }

// Now implements [Clock].
func (c *BootClock) Now() float64 { return c.origin + boot() - c.begun }

// Offset returns by how many seconds the wall clock is ahead.
func (c *BootClock) Offset() float64 { return wall() - c.Now() }

func wall() float64 {
	return time.Since(bank.Epoch).Seconds()
}
