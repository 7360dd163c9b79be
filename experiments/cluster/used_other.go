//go:build !unix

package cluster

import "time"

var began = time.Now()

// ProcessorTime returns the time since the start of this process, because this system does not report
// processor time in the same way.
func ProcessorTime() time.Duration { return time.Since(began) }
