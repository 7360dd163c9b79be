package main

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"bourse/bank/export"
	"bourse/experiments/report"

	"github.com/urfave/cli/v2"
)

// commandName returns the words that call c's command, without the program's.
func commandName(c *cli.Context) string {
	if c.Command == nil {
		return ""
	}
	_, name, _ := strings.Cut(c.Command.HelpName, " ")
	return name
}

// again returns the words that call c's command again, with those of the flags that were
// given.
func again(c *cli.Context, flags ...string) []string {
	return slices.Concat([]string{"bourse"}, strings.Fields(commandName(c)), c.Args().Slice(), typed(c, flags...))
}

// typed returns those of the flags that were given, as words.
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

// takes refuses a call whose arguments are not as ArgsUsage says: DIR or [DIR], which
// may be left out, and A|B; what says RESULTS... looks for itself.
func takes(c *cli.Context) error {
	usage := c.Command.ArgsUsage
	if strings.HasSuffix(usage, "...") {
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

// between refuses a call with fewer or more arguments, or an empty one.
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

// A programsFlag is --json, which says what is then printed.
type programsFlag struct {
	*cli.BoolFlag
	prints report.Output
}

func outputFlag(o report.Output) cli.Flag {
	usage := "print JSON, for programs"
	if o.Lines {
		usage = "print a JSON object a move, for programs"
	}
	return programsFlag{&cli.BoolFlag{Name: "json", Usage: usage, DisableDefaultText: true}, o}
}

func jsonFlag[T any]() cli.Flag { return outputFlag(report.JSON[T]()) }

func amissFlag() cli.Flag {
	return &cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print only what is amiss"}
}

func seedFlag() cli.Flag {
	return &cli.Uint64Flag{Name: "seed", Value: 1, Usage: "derive every use of chance from `SEED`"}
}

func movesFlag() cli.Flag { return outputFlag(report.JSONLines[export.Line]()) }

func quietFlag() cli.Flag {
	return &cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print results only"}
}

var colors = []string{"auto", "always", "never"}

// output flags are on every command that prints for people.
func outputFlags[T any]() []cli.Flag { return shownFlags(report.JSON[T]()) }

func shownFlags(o report.Output) []cli.Flag {
	return []cli.Flag{
		outputFlag(o),
		quietFlag(),
		&cli.StringFlag{Name: "color", Value: "auto", Usage: "colour `WHEN`: auto, always or never", Action: func(_ *cli.Context, when string) error {
			if when != "" && !slices.Contains(colors, when) {
				return usagef("--color: found %q, want auto, always or never", when)
			}
			return nil
		}},
	}
}

func filterFlag() cli.Flag {
	return &cli.StringFlag{Name: "filter", Usage: "records of the log to take: `FILTERS`, see 'bourse workload filters'"}
}

// workersFlag is of a command that runs several of what at once.
func workersFlag(what string) cli.Flag {
	return &cli.IntFlag{Name: "workers", Value: runtime.NumCPU(), Usage: "run `N` " + what + " at once; results do not depend on it"}
}

// checkWorkers returns an error unless there is a worker.
func checkWorkers(c *cli.Context) error {
	if n := c.Int("workers"); n < 1 {
		return usagef("--workers: found %d, want at least 1", n)
	}
	return nil
}

func noProgressFlag() cli.Flag {
	return &cli.BoolFlag{Name: "no-progress", Usage: "show no progress"}
}

func setFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "set", Usage: "override a field: `PATH=VALUE`"}
}

// orElse returns dir, or the path in results where that is empty.
func orElse(dir string, path ...string) string {
	if dir != "" {
		return dir
	}
	return filepath.Join(path...)
}
