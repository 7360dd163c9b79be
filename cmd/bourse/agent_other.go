//go:build !linux

package main

// supervisor does nothing: hosts must run Linux.
func supervisor() {}
