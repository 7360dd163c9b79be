//go:build !linux

package main

const canLimit = false

func limitMemory() bool { return true }
