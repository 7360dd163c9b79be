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

	"github.com/urfave/cli/v2"
)

// open opens the file called name, or standard input if that is "-". A file that may block,
// such as a pipe, is opened and read until the user interrupts.
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

// until returns the contents of in until ctx ends, and then the error end, or the end of file
// if that is nil, because a read of standard input could block forever.
func until(ctx context.Context, in io.Reader, end error) io.ReadCloser {
	r, w := io.Pipe()
	context.AfterFunc(ctx, func() { w.CloseWithError(end) })
	go func() {
		w.CloseWithError(recovered.Do(func() error { _, err := io.Copy(w, in); return err }))
	}()
	return r
}

// A wanted writer fails once the user has interrupted.
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

// buffered passes a buffered w to f, until the user interrupts.
func buffered(c *cli.Context, w io.Writer, f func(io.Writer) error) error {
	b := bufio.NewWriter(wanted{c.Context, w})
	if err := f(b); err != nil {
		return err
	}
	return b.Flush()
}

// writeFile creates the file called name with the output of f. After an error it removes the
// file.
func writeFile(c *cli.Context, name string, f func(io.Writer) error) error {
	create := func() (*os.File, error) { return os.Create(name) }
	var out *os.File
	var err error
	if info, wrong := os.Stat(name); wrong == nil && !info.Mode().IsRegular() { // a pipe may have no reader yet: os.Create would block
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
