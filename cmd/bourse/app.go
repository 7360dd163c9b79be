package main

import (
	"io"
	"strings"

	"bourse/experiments/scenario"

	"github.com/urfave/cli/v2"
)

// newApp returns the command. It is a function so that tests run it with their
// own readers and writers.
func newApp(in io.Reader, out, errs io.Writer) *cli.App {
	app := &cli.App{
		Name:  "bourse",
		Usage: "a market for computing: experiments, curves, and a ledger that can be audited",
		Description: `Hosts sell shares of themselves in a continuous auction; reservations promise work
by a deadline for a budget; a bank settles to the last micro-dollar.

Exit status: 0 done, 1 failed, 2 usage or configuration, 3 audit failed,
4 incomplete, 5 try again (a bank is busy, or its clock is wrong), 130 interrupted.
Results go to standard output, all else to standard error. NO_COLOR is honoured.`,
		Version:              version(),
		Reader:               in,
		Writer:               out,
		ErrWriter:            errs,
		EnableBashCompletion: true,
		HideHelpCommand:      true,

		DisableSliceFlagSeparator: true, // a value of --set may be a list
		Commands: []*cli.Command{
			runCommand(),
			mergeCommand(),
			plotCommand(),
			curveCommand(),
			figuresCommand(),
			showResultsCommand(),
			claimsCommand(),
			reproduceCommand(),
			contrastCommand(),
			replayCommand(),
			explainCommand(),
			tuneCommand(),
			incentivesCommand(),
			readingsCommand(),
			calibrateCommand(), forecastCommand(),
			adviseCommand(),
			reliabilityCommand(),
			workloadCommand(),
			scenarioCommand(),
			liveCommand(),
			submitCommand(),
			statusCommand(),
			cancelCommand(),
			logsCommand(),
			fetchCommand(),
			quoteCommand(),
			priceCommand(),
			topCommand(),
			joinCommand(),
			userCommand(),
			hostCommand(),
			bankCommand(),
			ledgerCommand(),
			witnessCommand(),
			keyCommand(),
			marketCommand(),
			agentCommand(),
			engineCommand(),
			policiesCommand(), presetsCommand(),
			schemaCommand(),
			docsCommand(), manCommand(),
			openCommand(),
			versionCommand(),
			completionCommand(),
		},
		ExitErrHandler: func(*cli.Context, error) {},
	}
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

// dress gives every command the same manners.
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

// wrongUse makes what the flag parser says a usage error.
func wrongUse(c *cli.Context, err error, _ bool) error {
	if _, flag, ok := strings.Cut(err.Error(), "flag provided but not defined: -"); ok {
		flag = strings.TrimLeft(flag, "-")
		var names []string
		for _, f := range c.Command.Flags {
			names = append(names, f.Names()...)
		}
		if near := scenario.Nearest(flag, names); len(near) > 1 {
			return usagef("unknown flag --%s; did you mean --%s? See '%s --help'", flag, near, c.Command.HelpName)
		}
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
	if near := scenario.Nearest(name, names); near != "" {
		return usagef("unknown command %q. Did you mean %q?", name, near)
	}
	return usagef("unknown command %q; see '%s --help'", name, strings.TrimSpace(c.App.Name+" "+commandName(c)))
}
