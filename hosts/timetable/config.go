package timetable

import (
	"fmt"
	"math"
)

// Bounds of a cluster.
const (
	MaxNodes = 1 << 16
	MinSpeed = 10      // permille
	MaxSpeed = 100_000 // permille
)

// Admission says which jobs a book accepts.
type Admission int8

// Rules of admission.
const (
	EDF       Admission = iota // those with which earliest deadline first misses no deadline
	EDFInsert                  // also those that fit into a hole of the plan as it is
)

// Overrun says what becomes of a job still running when its estimate is used up.
type Overrun int8

// Rules for who overruns.
const (
	Extend Overrun = iota // it gets more time if no reservation is harmed, else it is killed
	Kill                  // it is killed at once
)

// A Config describes a cluster and how its book is kept.
type Config struct {
	Nodes     int   // N, 1 to MaxNodes
	Speed     int64 // permille of the reference speed, MinSpeed to MaxSpeed; 0 is 1000
	Admission Admission
	Overrun   Overrun
	ExtendPct int64 // percent of its estimate by which a job is extended, 1 to 1000; 0 is 20

	// Brief says that quotes leave out ZetaAll. Then only a commitment plans anew
	// what waits without a deadline, and a quote does not take longer for it. A
	// Preemptive book is never brief.
	Brief bool
}

// withDefaults returns c with its zero values replaced, or an error that names
// the field at fault.
func (c Config) withDefaults() (Config, error) {
	if c.Speed == 0 {
		c.Speed = 1000
	}
	if c.ExtendPct == 0 {
		c.ExtendPct = 20
	}
	switch {
	case c.Nodes < 1 || c.Nodes > MaxNodes:
		return c, fmt.Errorf("timetable: %d nodes, want 1 to %d", c.Nodes, MaxNodes)
	case c.Speed < MinSpeed || c.Speed > MaxSpeed:
		return c, fmt.Errorf("timetable: speed %d permille, want %d to %d", c.Speed, MinSpeed, MaxSpeed)
	case c.Admission != EDF && c.Admission != EDFInsert:
		return c, fmt.Errorf("timetable: admission %d, want EDF or EDFInsert", c.Admission)
	case c.Overrun != Extend && c.Overrun != Kill:
		return c, fmt.Errorf("timetable: overrun %d, want Extend or Kill", c.Overrun)
	case c.ExtendPct < 1 || c.ExtendPct > 1000:
		return c, fmt.Errorf("timetable: extend by %d percent, want 1 to 1000", c.ExtendPct)
	}
	return c, nil
}

// Span returns how many seconds a job of the given seconds at reference speed
// takes at speed permille, rounded up (e of eq. 3.1).
func Span(seconds, speed int64) int64 {
	return (seconds*1000 + speed - 1) / speed
}

// Times returns f times a span, rounded up. What is off by rounding alone is whole:
// 0.07 times 100 is 7.
func Times(f float64, span int64) int64 {
	return int64(math.Ceil(f * float64(span) * (1 - 1e-14)))
}

// extension returns by how much a job planned for span is extended.
func (c *Config) extension(span int64) int64 {
	return max(1, (span*c.ExtendPct+99)/100)
}
