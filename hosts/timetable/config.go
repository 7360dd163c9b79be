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

// Admission is the rule that decides which jobs a book accepts.
type Admission int8

// Rules of admission.
const (
	EDF       Admission = iota // accepts a job if earliest deadline first misses no deadline
	EDFInsert                  // also accepts a job that fits into a hole of the current plan
)

// Overrun is the rule for jobs that are still running when they reach their estimate.
type Overrun int8

// Rules for jobs that exceed their estimates.
const (
	Extend Overrun = iota // the job gets more time if no reservation then misses its deadline; if one would, the job is killed
	Kill                  // the job is killed immediately
)

// A Config describes a cluster and the rules of its book.
type Config struct {
	Nodes     int   // N, from 1 to MaxNodes
	Speed     int64 // permille of the reference speed, from MinSpeed to MaxSpeed; 0 means 1000
	Admission Admission
	Overrun   Overrun
	ExtendPct int64 // length of an extension in percent of the estimate, from 1 to 1000; 0 means 20

	// Brief makes quotes omit ZetaAll. Jobs that wait without a deadline are then planned again
	// only at a commitment, so they do not slow down quotes. A Preemptive book ignores Brief.
	Brief bool
}

// withDefaults returns c with its zero values replaced by defaults. The error names the invalid
// field.
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

// Span returns how many seconds a job takes at speed permille if it takes the given seconds at
// reference speed, rounded up (e of eq. 3.1).
func Span(seconds, speed int64) int64 {
	return (seconds*1000 + speed - 1) / speed
}

// Times returns f times span, rounded up. It ignores rounding errors of float64: 0.07 times 100
// is 7.
func Times(f float64, span int64) int64 {
	return int64(math.Ceil(f * float64(span) * (1 - 1e-14)))
}

// extension returns the length of an extension of a job planned for span.
func (c *Config) extension(span int64) int64 {
	return max(1, (span*c.ExtendPct+99)/100)
}
