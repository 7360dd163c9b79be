//go:build !unix

package main

import "io"

// hasInput reports whether r has data to read. On this system that is unknown.
func hasInput(io.Reader) (now, later bool) { return false, false }
