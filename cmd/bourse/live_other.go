//go:build !linux

package main

import (
	"errors"

	"github.com/urfave/cli/v2"
)

func liveCommand() *cli.Command {
	return &cli.Command{
		Name: "live", Usage: "run a market on this machine (Linux only)",
		Action: func(*cli.Context) error { return errors.New("live: only Linux machines are hosts") },
	}
}

func marketServeCommand() *cli.Command {
	return &cli.Command{
		Name: "serve", Usage: "run a market that sells other machines (Linux only)",
		Action: func(*cli.Context) error { return errors.New("market serve: only Linux machines keep live markets") },
	}
}

func marketRotateCommand() *cli.Command {
	return &cli.Command{
		Name: "rotate", Usage: "replace the certificate by which a market is known (Linux only)",
		Action: func(*cli.Context) error { return errors.New("market rotate: only Linux machines keep live markets") },
	}
}
