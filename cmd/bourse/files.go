package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"bourse/experiments/recovered"
	"bourse/experiments/results"
	"bourse/experiments/scenario"

	"github.com/urfave/cli/v2"
)

// open opens the named file, or standard input if the name is "-". If a file may block, such
// as a pipe, opening and reading it end when the user interrupts the program.
func open(c *cli.Context, name string) (io.ReadCloser, error) {
	if name == "-" {
		return until(c.Context, c.App.Reader, context.Canceled), nil
	}
	f, err := await(c.Context, func() (*os.File, error) { return os.Open(name) })
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		f.Close()
		return nil, &fs.PathError{Op: "read", Path: name, Err: syscall.EISDIR}
	}
	if err == nil && !info.Mode().IsRegular() {
		return until(c.Context, f, context.Canceled), nil
	}
	return f, nil
}

// until returns a reader of in. After ctx is done, the reader returns the error end, or io.EOF
// if end is nil. Without it, a read of standard input could block forever.
func until(ctx context.Context, in io.Reader, end error) io.ReadCloser {
	r, w := io.Pipe()
	context.AfterFunc(ctx, func() { w.CloseWithError(end) })
	go func() {
		w.CloseWithError(recovered.Do(func() error { _, err := io.Copy(w, in); return err }))
	}()
	return r
}

// A wanted is a writer that returns an error after the user has interrupted the program.
type wanted struct {
	ctx context.Context
	io.Writer
}

func (w wanted) Write(b []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.Writer.Write(b)
}

// buffered passes a buffered writer to f. Writes fail after the user has interrupted the
// program.
func buffered(c *cli.Context, w io.Writer, f func(io.Writer) error) error {
	b := bufio.NewWriter(wanted{c.Context, w})
	if err := f(b); err != nil {
		return err
	}
	return b.Flush()
}

// writeFile creates the named file with the output of f. If f fails, writeFile removes the
// file.
func writeFile(c *cli.Context, name string, f func(io.Writer) error) error {
	create := func() (*os.File, error) { return os.Create(name) }
	var out *os.File
	var err error
	if info, wrong := os.Stat(name); wrong == nil && !info.Mode().IsRegular() { // os.Create would block on a pipe that has no reader yet
		out, err = await(c.Context, func() (*os.File, error) { return os.OpenFile(name, os.O_WRONLY, 0) })
	} else {
		out, err = create()
	}
	if err != nil {
		return err
	}
	info, _ := out.Stat()
	err = errors.Join(buffered(c, out, f), out.Close())
	if err != nil && info != nil && info.Mode().IsRegular() {
		return errors.Join(err, os.Remove(name))
	}
	return err
}

// ran returns the results that the first argument names, and their scenario with every point of
// its sweep. The files must be unchanged.
func ran(c *cli.Context) (*results.Dir, scenario.Experiment, error) {
	dir, err := results.Open(c.Args().First())
	if err == nil {
		err = dir.Unchanged()
	}
	if err != nil {
		return nil, scenario.Experiment{}, err
	}
	e, err := scenario.Stored(dir.Path, dir.Manifest.Scenario)
	return dir, e.Expanded(), err
}
