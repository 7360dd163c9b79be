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
			err = fmt.Errorf("%w; these results keep %s, such as %s", err, count(len(l.Addresses), "ledger"), l.Addresses[0])
		}
	}
	return r, err
}

// readLedger gives the entries of the ledger that is c's first argument to f, whose
// output is buffered. In a ledger in use files come and go: f is called again if one
// went away before anything was printed.
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

// A touched writer knows whether anything was written.
type touched struct {
	io.Writer
	yes bool
}

func (t *touched) Write(b []byte) (int, error) {
	t.yes = true
	return t.Writer.Write(b)
}

// readOnce gives the entries of the ledger in dir to f, and prints to out what it wrote
// once all were read.
func readOnce(dir string, out io.Writer, f func(io.Writer, export.Entries) error) (err error) {
	r, err := readBank(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	w := bufio.NewWriter(out)
	err = f(w, r.Entries())
	if wrong := r.Err(); wrong != nil { // which is why f got no further
		return fmt.Errorf("read ledger %s: %w", place.At(dir), wrong)
	}
	if err != nil {
		return err
	}
	return w.Flush()
}
