// Bourse runs experiments on a computational market, runs live markets, and audits their
// ledgers. To add a command, write its file and add a line to newApp.
//
// # Where to start reading
//
// The core is the market itself. It consists of twelve packages that are independent of
// experiments, networks and real machines. A newcomer can read the packages in a day. Read
// them in this order, and start each with its package comment:
//
//	hour 1  market                  how bids become prices and shares
//	hour 2  hosts, hosts/sim        the interface of a host; hosts with computed progress
//	hour 3  bank                    exact money, postings with two ends, escrow
//	hour 4  contracts               all central types, in contracts.go; the table of transitions
//	hour 5  contracts/admission     be, sac, cac and rac, and the adapters
//	        contracts/bidding       which hosts a node goes to, and what it bids there
//	hour 6  contracts/sharing       how a host is shared
//	        contracts/floor         who runs where
//	hour 7  contracts/settlement    outcomes and bills
//	        contracts/note          the notes about a contract in the ledger
//	hour 8  contracts/broker        the life of a contract
//
// "bourse docs core" prints the same list and adds the files to read first.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"bourse/experiments/recovered"
	"bourse/hosts/confine"
)

func main() {
	supervisor()
	confine.Main()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program immediately
	status := run(ctx, os.Args, os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run runs the whole program. It returns the exit status.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	app := newApp(in, out, errs)
	errs = app.ErrWriter
	args, note, err := today(helpLast(args))
	if err == nil && complete(out, app.Commands, args) {
		return statusDone
	}
	if _, person := descriptor(errs); person && note != "" && !quieted(args) { // print the note only on a terminal, because scripts read the first line
		fmt.Fprintln(errs, note)
	}
	if err == nil {
		err = recovered.Do(func() error { return app.RunContext(ctx, permute(app.Commands, args)) })
	}
	return conclude(ctx, errs, crashed(err, args))
}
