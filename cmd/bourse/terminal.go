package main

import (
	"os"
	"strings"

	"bourse/experiments/report"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

// terminal describes the capabilities of the device that displays c's output. It is the only
// function that inspects file descriptors and the environment.
func terminal(c *cli.Context) report.Terminal {
	t := report.Terminal{UTF8: utf8Locale()}
	t.Braille = t.UTF8 && os.Getenv("TERM") != "dumb" && os.Getenv("TERM") != "linux" // the Linux console font has no braille characters
	fd, isTerminal := descriptor(c.App.Writer)
	if isTerminal {
		if width, _, err := term.GetSize(fd); err == nil {
			t.Width = width
		}
	}
	when := c.String("color")
	t.Color = when == "always" ||
		when != "never" && isTerminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return t
}

// descriptor returns w's file descriptor and reports whether it is a terminal.
func descriptor(w any) (fd int, isTerminal bool) {
	if p, ok := w.(*report.PlainWriter); ok {
		w = p.Writer
	}
	f, ok := w.(*os.File)
	if !ok {
		return 0, false
	}
	return int(f.Fd()), term.IsTerminal(int(f.Fd()))
}

// utf8Locale reports whether the locale uses UTF-8.
func utf8Locale() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(os.Getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}
