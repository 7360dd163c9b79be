package main

import (
	"io"
	"os"

	"github.com/urfave/cli/v2"
)

// open opens the file called name, or standard input if that is "-".
func open(c *cli.Context, name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(c.App.Reader), nil
	}
	return os.Open(name)
}
