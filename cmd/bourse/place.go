package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"bourse/bank/export"
	"bourse/bank/place"
	"bourse/bank/store"
	"bourse/experiments/audits"

	"github.com/urfave/cli/v2"
)

// readBank opens a ledger for reading.
func readBank(address string) (*store.Reader, error) {
	r, err := place.At(address).Reader()
	if errors.Is(err, store.ErrNone) {
		if l, wrong := audits.In(address, ""); wrong == nil && l.Addresses[0] != address {
			err = fmt.Errorf("%w; these results contain %s, such as %s", err, count(len(l.Addresses), "ledger"), l.Addresses[0])
		}
	}
	return r, err
}

// readLedger passes the entries of the ledger in c's first argument to f and buffers the
// output of f. Files of a ledger in use may be removed. In that case, readLedger calls f
// again, unless some output has already been printed.
func readLedger(c *cli.Context, f func(io.Writer, export.Entries) error) error {
	const attempts = 20
	for attempt := 1; ; attempt++ {
		out := &touched{Writer: wanted{c.Context, c.App.Writer}}
		err := readOnce(c.Args().First(), out, f)
		if !errors.Is(err, fs.ErrNotExist) || out.yes || attempt == attempts {
			return err
		}
	}
}

// A touched is a writer that records whether anything was written.
type touched struct {
	io.Writer
	yes bool
}

func (t *touched) Write(b []byte) (int, error) {
	t.yes = true
	return t.Writer.Write(b)
}

// readOnce passes the entries of the ledger in dir to f. It prints the output of f to out.
func readOnce(dir string, out io.Writer, f func(io.Writer, export.Entries) error) (err error) {
	r, err := readBank(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	w := bufio.NewWriter(out)
	err = f(w, r.Entries())
	if wrong := r.Err(); wrong != nil { // this error is the reason why f stopped
		return fmt.Errorf("read ledger %s: %w", place.At(dir), wrong)
	}
	if err != nil {
		return err
	}
	return w.Flush()
}
