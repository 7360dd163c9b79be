//go:build !linux

package live

import "time"

var started = time.Now()

// boot returns the seconds since the program started.
func boot() float64 { return time.Since(started).Seconds() }
