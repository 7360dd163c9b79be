package main

import (
	"io"
	"os"
	"strings"

	"bourse/experiments/report"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

func jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print JSON, for programs"}
}

func amissFlag() cli.Flag {
	return &cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print only what is amiss"}
}

func seedFlag() cli.Flag {
	return &cli.Uint64Flag{Name: "seed", Value: 1, Usage: "derive every use of chance from `SEED`"}
}

func movesFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print a JSON object a move, for programs"}
}

func quietFlag() cli.Flag {
	return &cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print results only"}
}

// output flags are on every command that prints for people.
func outputFlags() []cli.Flag {
	return []cli.Flag{
		jsonFlag(),
		quietFlag(),
		&cli.StringFlag{Name: "color", Value: "auto", Usage: "colour `WHEN`: auto, always or never"},
	}
}

// terminal says what the receiver of w can show: the one place that looks at
// file descriptors and the environment.
func terminal(c *cli.Context, w io.Writer) (report.Terminal, error) {
	t := report.Terminal{UTF8: utf8Locale()}
	fd, isTerminal := descriptor(w)
	if isTerminal {
		if width, _, err := term.GetSize(fd); err == nil {
			t.Width = width
		}
	}
	switch when := c.String("color"); when {
	case "auto", "":
		t.Color = isTerminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	case "always":
		t.Color = true
	case "never":
	default:
		return t, usagef("--color: found %q, want auto, always or never", when)
	}
	return t, nil
}

// descriptor returns w's file descriptor, and whether it is a terminal.
func descriptor(w any) (fd int, isTerminal bool) {
	if p, ok := w.(*plainWriter); ok {
		w = p.Writer
	}
	f, ok := w.(*os.File)
	if !ok {
		return 0, false
	}
	return int(f.Fd()), term.IsTerminal(int(f.Fd()))
}

// utf8Locale reports whether the locale is one of UTF-8.
func utf8Locale() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(os.Getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}
