//go:build !linux

package main

var liveCommand = group(`live
manage hosts and users of a market that runs on Linux`, hostCommand, userCommand)
