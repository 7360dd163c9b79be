//go:build !linux

package main

import (
	"errors"

	"github.com/urfave/cli/v2"
)

// supervisor does nothing: hosts must run Linux.
func supervisor() {}

func agentCommand() *cli.Command {
	return &cli.Command{
		Name: "agent", Usage: "stand for this machine as a host of a market (Linux only)",
		Action: func(*cli.Context) error { return errors.New("agent: only Linux machines are hosts") },
	}
}
