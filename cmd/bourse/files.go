package main

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/urfave/cli/v2"
)

// open opens the file called name, or standard input if that is "-".
func open(c *cli.Context, name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(c.App.Reader), nil
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("%s: no such file", name)
	}
	return f, err
}
