package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"bourse/workloadgen/plugin"

	"github.com/urfave/cli/v2"
)

// newApp returns the program's root command. Tests call it with their own readers and writers.
func newApp(in io.Reader, out, errs io.Writer) *cli.App {
	app := &cli.App{
		Name:  "bourse",
		Usage: "bourse - a market for computing: experiments, live markets, audited ledgers",
		Description: `Hosts sell shares of their capacity in a continuous auction. Contracts promise work by a
deadline, for a budget. A bank settles payments to the micro-dollar. The command 'bourse docs' lists
the documentation; start with 'bourse docs concepts'.

The exit status is 0 for success, 1 for a failure or a refusal, and 2 for wrong usage or input. It
is 3 for a failed audit, 4 for an incomplete result, and 5 for a busy bank or a wrong clock (try
again). It is 130 after an interruption. Results go to standard output, and all other output goes to
standard error. Commands respect NO_COLOR.`,
		Version:              version(),
		Reader:               in,
		Writer:               out,
		ErrWriter:            errs,
		EnableBashCompletion: true,
		HideHelpCommand:      true,

		DisableSliceFlagSeparator: true, // the value of --set may be a list
		ExitErrHandler:            func(*cli.Context, error) {},
	}
	app.Commands = slices.Concat(
		grouped("EXPERIMENT",
			with(runCommand, mergeCommand)(),
			showResultsCommand(),
			plotCommand(),
			contrastCommand(),
			explainCommand(),
			openCommand(),
		),
		grouped("STUDY", studyCommand(), paperCommand()),
		grouped("INPUT", scenarioCommand(), workloadCommand(), policyCommand(), judgeCommand()),
		grouped("LEDGER", ledgerCommand(), bankCommand()),
		grouped("MARKET", liveCommand(), jobCommand(), openapiCommand()),
		grouped("HELP", docsCommand(), versionCommand(), completionCommand(), manCommand()),
		grouped("", curveCommand(), figuresCommand()), // these commands were replaced by plot
		grouped("", marketCommand(), engineCommand()), // hidden commands that test parts of the market
	)
	app.CustomAppHelpTemplate = helpOf(app)
	app.Action = func(c *cli.Context) error {
		if c.NArg() == 0 {
			return cli.ShowAppHelp(c)
		}
		return unknown(c, c.Args().First())
	}
	app.OnUsageError = wrongUse
	dress(app.Commands)
	if !utf8Locale() {
		printPlain(app)
	}
	return app
}

// grouped returns commands as members of a group, which are hidden if it has no name.
func grouped(category string, commands ...*cli.Command) []*cli.Command {
	for _, c := range commands {
		c.Category, c.Hidden = category, category == ""
	}
	return commands
}

// helpOf returns the help of the program: its commands by group.
func helpOf(app *cli.App) string {
	text, group := "{{.Usage}}\n\nUSAGE\n  bourse COMMAND [--help]\n", ""
	for _, c := range app.Commands {
		if c.Hidden {
			continue
		}
		if c.Category != group {
			group = c.Category
			text += "\n" + group + "\n"
		}
		c.Category = ""
		text += fmt.Sprintf("  %-12s%s\n", c.Name, c.Usage)
	}
	return text + "\n{{.Description}}\n"
}

// dress sets the fields that all commands have in common, such as the check of arguments.
func dress(commands []*cli.Command) {
	for _, c := range commands {
		for _, f := range c.Flags {
			if b, ok := f.(*cli.BoolFlag); ok {
				b.DisableDefaultText = true
			}
		}
		c.OnUsageError = wrongUse
		c.HideHelpCommand = true
		dress(c.Subcommands)
		if act := c.Action; act != nil {
			c.Action = func(c *cli.Context) error {
				if err := takes(c); err != nil {
					return err
				}
				return act(c)
			}
			continue
		}
		c.Action = func(c *cli.Context) error {
			if c.NArg() == 0 {
				return cli.ShowSubcommandHelp(c)
			}
			return unknown(c, c.Args().First())
		}
	}
}

// wrongUse converts an error of the flag parser into a usage error.
func wrongUse(c *cli.Context, err error, _ bool) error {
	if _, flag, ok := strings.Cut(err.Error(), "flag provided but not defined: -"); ok {
		flag = strings.TrimLeft(flag, "-")
		var names []string
		for _, f := range c.Command.Flags {
			names = append(names, f.Names()...)
		}
		if near := plugin.Nearest(flag, names); len(near) > 1 {
			return usagef("unknown flag --%s; did you mean --%s? See '%s --help'", flag, near, c.Command.HelpName)
		}
	}
	if _, n, ok := strings.Cut(err.Error(), "flag provided but not defined: "); ok {
		return usagef("unknown flag %s; write -- before an argument that begins with a minus sign; see '%s --help'", n, c.Command.HelpName)
	}
	return usagef("%w; see '%s --help'", err, c.Command.HelpName)
}

func unknown(c *cli.Context, name string) error {
	in := c.App.Commands
	if c.Command != nil && len(c.Command.Subcommands) > 0 {
		in = c.Command.Subcommands
	}
	var names []string
	for _, known := range in {
		names = append(names, known.Name)
	}
	if near := plugin.Nearest(name, names); near != "" {
		return usagef("unknown command %q. Did you mean %q?", name, near)
	}
	return usagef("unknown command %q; see '%s --help'", name, strings.TrimSpace(c.App.Name+" "+commandName(c)))
}
