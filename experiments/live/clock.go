package live

import (
	"math"
	"sync/atomic"
	"time"

	"bourse/bank"
)

// A Clock tells the seconds since 2000-01-01 UTC, and never goes back.
type Clock interface {
	Now() float64

	// Reach lets it go on from an instant that is known to be past, if it is not so far.
	Reach(at float64)
}

// A BootClock is a [Clock] that begins where the wall clock stands, and goes on by
// CLOCK_BOOTTIME: what is done to the wall clock then is not seen, and time in which the
// machine sleeps counts.
type BootClock struct {
	wall, boot func() float64
	origin     atomic.Uint64 // Now where boot is 0, as [math.Float64bits]
}

// NewBootClock returns a clock that begins now.
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

// Offset returns by how many seconds the wall clock is ahead.
func (c *BootClock) Offset() float64 { return c.wall() - c.Now() }
