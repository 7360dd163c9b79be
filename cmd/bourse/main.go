// Bourse runs experiments on a computational market, and keeps its ledger. To add a
// command, write its file and its line in newApp.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"bourse/experiments/rescue"
)

func main() {
	minder()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	status := run(ctx, os.Args, os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run is the whole program: it returns the exit status.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	app := newApp(in, out, errs)
	if complete(out, app.Commands, args) {
		return statusDone
	}
	errs = app.ErrWriter
	err := rescue.Do(func() error { return app.RunContext(ctx, permute(app.Commands, helpLast(args))) })
	return conclude(ctx, errs, crashed(err, args))
}
