package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// permute moves the flags of a command before its arguments, so that users can write either
// first. Without it, the flag package stops at the first argument.
func permute(commands []*cli.Command, args []string) []string {
	if asksCompletion(args) {
		return args
	}
	var last *cli.Command
	for i := 1; i < len(args); i++ {
		at := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(args[i]) })
		if at < 0 && (last == nil || last.ArgsUsage == "") {
			break // the command has only subcommands
		}
		if at < 0 {
			return append(slices.Clip(args[:i]), flagsFirst(last.Flags, args[i:])...)
		}
		if last = commands[at]; len(last.Subcommands) == 0 {
			return append(slices.Clip(args[:i+1]), flagsFirst(last.Flags, args[i+1:])...)
		}
		commands = last.Subcommands
	}
	return args
}

// helpLast rewrites 'help COMMAND' as 'COMMAND --help'.
func helpLast(args []string) []string {
	if len(args) > 1 && args[1] == "help" {
		return append(slices.Concat(args[:1], args[2:]), "--help")
	}
	return args
}

// flagsFirst returns args with the flags and their values first.
func flagsFirst(flags []cli.Flag, args []string) []string {
	var first, rest []string
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "--":
			return slices.Concat(first, args[i:i+1], rest, args[i+1:])
		case len(a) < 2 || a[0] != '-':
			rest = append(rest, a)
		case !strings.Contains(a, "=") && takesValue(flags, strings.TrimLeft(a, "-")) && i+1 < len(args):
			first = append(first, a, args[i+1])
			i++
		default:
			first = append(first, a)
		}
	}
	return append(first, rest...)
}

// takesValue reports whether the flag called name is followed by a value. It is false for an
// unknown flag, which the parser will report.
func takesValue(flags []cli.Flag, name string) bool {
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			d, ok := f.(cli.DocGenerationFlag)
			return ok && d.TakesValue()
		}
	}
	return false
}
