package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"bourse/bank/export"
	"bourse/experiments/report"

	"github.com/urfave/cli/v2"
)

// commandName returns the words of c's command, without the program's name.
func commandName(c *cli.Context) string {
	if c.Command == nil {
		return ""
	}
	_, name, _ := strings.Cut(c.Command.HelpName, " ")
	return name
}

// again returns the words of a command line that calls c's command again with the given flags.
func again(c *cli.Context, flags ...string) []string {
	return slices.Concat([]string{"bourse"}, strings.Fields(commandName(c)), c.Args().Slice(), typed(c, flags...))
}

// typed returns the given flags as words of a command line.
func typed(c *cli.Context, flags ...string) (words []string) {
	for _, name := range flags {
		if several := c.StringSlice(name); several != nil {
			for _, one := range several {
				words = append(words, "--"+name, one)
			}
		} else if c.IsSet(name) {
			words = append(words, "--"+name, fmt.Sprint(c.Value(name)))
		}
	}
	return words
}

// takes rejects a command line whose arguments do not match ArgsUsage, such as DIR, an
// optional [DIR], or A|B. A command with RESULTS... checks the number of its arguments
// itself.
func takes(c *cli.Context) error {
	usage := c.Command.ArgsUsage
	if strings.HasSuffix(strings.TrimSuffix(usage, "]"), "...") {
		if slices.Contains(c.Args().Slice(), "") && !strings.Contains(usage, "COMMAND") { // a command may have empty arguments
			return usagef("%s: found an empty argument, want %s; see '%s --help'", commandName(c), usage, c.Command.HelpName)
		}
		return nil
	}
	names := strings.Fields(strings.ReplaceAll(usage, "|", "_or_"))
	least := len(names)
	for i, name := range names {
		if name[0] == '[' {
			least--
		}
		names[i] = strings.ReplaceAll(strings.Trim(name, "[]"), "_or_", " or ")
	}
	return between(c, least, len(names), names...)
}

// between rejects a command line with too few arguments, too many arguments or an empty
// argument.
func between(c *cli.Context, least, most int, names ...string) error {
	switch n := c.NArg(); {
	case n < least:
		return usagef("%s: %s is missing; see '%s --help'", commandName(c), names[n], c.Command.HelpName)
	case n > most && most == 0:
		return usagef("%s: found %q, want no argument; see '%s --help'", commandName(c), c.Args().First(), c.Command.HelpName)
	case n > most:
		return usagef("%s: found %q after %s; see '%s --help'", commandName(c), c.Args().Get(most), strings.Join(names, " and "), c.Command.HelpName)
	}
	for i, arg := range c.Args().Slice() {
		if arg == "" {
			return usagef("%s: %s is empty; see '%s --help'", commandName(c), names[i], c.Command.HelpName)
		}
	}
	return nil
}

// A programsFlag is the --json flag, with the type of its output.
type programsFlag struct {
	*cli.BoolFlag
	prints report.Output
}

// A jsonOption is the --json flag of a command that prints a T.
type jsonOption[T any] struct {
	JSON bool `doc:"print the result as JSON"`
}

func (jsonOption[T]) prints() report.Output { return report.JSON[T]() }

// printsVersion returns the type printed for --json if it is a later version of a T.
func printsVersion[T any](version int) report.Output {
	o := report.JSON[T]()
	o.Version = version
	return o
}

// A json2Option is the --json flag of a command that prints the second version of a T.
type json2Option[T any] struct {
	JSON bool `doc:"print the result as JSON"`
}

func (json2Option[T]) prints() report.Output { return printsVersion[T](2) }

// A json3Option is the --json flag of a command that prints the third version of a T.
type json3Option[T any] struct {
	JSON bool `doc:"print the result as JSON"`
}

func (json3Option[T]) prints() report.Output { return printsVersion[T](3) }

// A peopleOptions contains the options of commands that print text for people.
type peopleOptions struct {
	quietOption `yaml:",inline"`
	Color       string `validate:"oneof=auto always never" default:"auto" doc:"use colours {WHEN}: auto, always or never"`
}

// An output contains the options of every command that prints text or JSON.
type output[T any] struct {
	jsonOption[T] `yaml:",inline"`
	peopleOptions `yaml:",inline"`
}

type output2[T any] struct {
	json2Option[T] `yaml:",inline"`
	peopleOptions  `yaml:",inline"`
}

type movesOption struct {
	JSON bool `doc:"print one JSON object per transfer"`
}

func (movesOption) prints() report.Output { return report.JSONLines[export.Line]() }

type amissOption struct {
	Quiet bool `alias:"q" doc:"print only problems"`
}

type seedOption struct {
	Seed uint64 `default:"1" doc:"derive all random numbers from {SEED}"`
}

type quietOption struct {
	Quiet bool `alias:"q" doc:"print results only"`
}

type filterOption struct {
	Filter string `doc:"apply {FILTERS} to the log; 'workload filters' lists them"`
}

type noProgressOption struct {
	NoProgress bool `yaml:"no-progress" doc:"show no progress"`
}

// orElse returns dir, or the path in results if dir is empty.
func orElse(dir string, path ...string) string {
	if dir != "" {
		return dir
	}
	return filepath.Join(path...)
}
