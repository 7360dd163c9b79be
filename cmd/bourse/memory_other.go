//go:build !linux || !cgo

package main

// steadyMemory has nothing to do: no memory is C's.
func steadyMemory() {}
