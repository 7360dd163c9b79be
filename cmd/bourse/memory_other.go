//go:build !linux || !cgo

package main

// steadyMemory does nothing, because no memory is allocated in C.
func steadyMemory() {}
