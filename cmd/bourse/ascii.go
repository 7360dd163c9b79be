package main

import (
	"fmt"
	"io"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"bourse/experiments/report"

	"github.com/urfave/cli/v2"
)

// data are the commands whose output is for programs, byte for byte, whatever the locale.
var data = []string{
	"scenario show", "scenario schema", "workload generate", "workload convert", "workload schedule",
	"bank apply", "bank balance", "bank log", "ledger export", "ledger prove", "ledger checkpoint",
	"key new", "market clear", "completion",
}

// A plainWriter writes ASCII where the locale is not of UTF-8: the one gate of all that
// the program prints. Text for people has something like each character; JSON has its
// escapes; data goes through.
type plainWriter struct {
	io.Writer
	convert func(string) string // nil for data
	rest    []byte              // of a character that is not yet complete
}

func (w *plainWriter) Write(b []byte) (int, error) {
	if w.convert == nil || len(w.rest) == 0 && !slices.ContainsFunc(b, func(c byte) bool { return c >= utf8.RuneSelf }) {
		return w.Writer.Write(b)
	}
	all := append(w.rest, b...)
	end := len(all)
	for i := end - 1; i >= max(0, end-utf8.UTFMax); i-- {
		if utf8.RuneStart(all[i]) {
			if !utf8.FullRune(all[i:]) {
				end = i
			}
			break
		}
	}
	w.rest = slices.Clone(all[end:])
	if _, err := io.WriteString(w.Writer, w.convert(string(all[:end]))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// escaped returns JSON with escapes for what is not ASCII, which stands in strings alone.
func escaped(s string) string {
	var b []byte
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			b = append(b, byte(r))
		case r > 0xFFFF:
			hi, lo := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, hi, lo)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return string(b)
}

// printPlain puts the gate before what app writes, and has every command say what it prints.
func printPlain(app *cli.App) {
	out := &plainWriter{Writer: app.Writer, convert: report.ASCII}
	app.Writer, app.ErrWriter = out, &plainWriter{Writer: app.ErrWriter, convert: report.ASCII}
	var each func([]*cli.Command)
	each = func(commands []*cli.Command) {
		for _, c := range commands {
			each(c.Subcommands)
			if act := c.Action; len(c.Subcommands) == 0 {
				c.Action = func(c *cli.Context) error {
					switch {
					case slices.Contains(data, commandName(c)):
						out.convert = nil
					case c.Bool("json"):
						out.convert = escaped
					}
					return act(c)
				}
			}
		}
	}
	each(app.Commands)
}
