package live

import (
	"math"
	"sync/atomic"
	"time"

	"bourse/bank"
)

// A Clock returns the seconds since 2000-01-01 UTC and never goes backward.
type Clock interface {
	Now() float64

	// Reach moves the clock forward to at if the clock shows an earlier time. The caller knows
	// that this time has passed.
	Reach(at float64)
}

// A BootClock is a [Clock] that starts at the wall clock's time and then advances with
// CLOCK_BOOTTIME. It ignores later changes to the wall clock and includes the time during
// which the machine sleeps.
type BootClock struct {
	wall, boot func() float64
	origin     atomic.Uint64 // clock time at which boot returned 0, as [math.Float64bits]
}

// NewBootClock returns a clock that starts now.
func NewBootClock() *BootClock {
	return newBootClock(func() float64 { return time.Since(bank.Epoch).Seconds() }, boot)
}

func newBootClock(wall, boot func() float64) *BootClock {
	c := &BootClock{wall: wall, boot: boot}
	c.origin.Store(math.Float64bits(wall() - boot()))
	return c
}

// Now implements [Clock].
func (c *BootClock) Now() float64 { return math.Float64frombits(c.origin.Load()) + c.boot() }

// Reach implements [Clock].
func (c *BootClock) Reach(at float64) {
	if now := c.Now(); at > now {
		c.origin.Store(math.Float64bits(at - c.boot()))
	}
}

// Offset returns the difference between the wall clock and the BootClock, in seconds.
func (c *BootClock) Offset() float64 { return c.wall() - c.Now() }
