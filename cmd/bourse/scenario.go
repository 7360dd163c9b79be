package main

import (
	"bourse/experiments"
	"bourse/experiments/scenario"

	"github.com/urfave/cli/v2"
)

func scenarioCommand() *cli.Command {
	return &cli.Command{
		Name:  "scenario",
		Usage: "print and check scenario files",
		Subcommands: []*cli.Command{
			{
				Name:      "show",
				Usage:     "print a full scenario file, every field with its default",
				ArgsUsage: "PRESET|FILE",
				Description: `   bourse scenario show paper > mine.yaml
   bourse run mine.yaml`,
				Flags:  []cli.Flag{&cli.StringSliceFlag{Name: "set", Usage: "override a field: `PATH=VALUE`"}},
				Action: showScenario,
			},
			{
				Name:      "check",
				Usage:     "check a scenario file without running it",
				ArgsUsage: "FILE",
				Description: `Checks every field, makes every plug-in with its options, reads the logs and plans
that the file names, and sees to it that somebody pays for the jobs.`,
				Flags: []cli.Flag{&cli.StringSliceFlag{Name: "set", Usage: "override a field: `PATH=VALUE`"}},
				Action: func(c *cli.Context) error {
					if err := exactly(c, "FILE"); err != nil {
						return err
					}
					e, err := scenario.Load(c.Args().First(), known(), c.StringSlice("set")...)
					if err != nil {
						return err
					}
					if err := experiments.Check(&e); err != nil {
						return usageError{err}
					}
					return nil
				},
			},
			{
				Name:   "schema",
				Usage:  "print the JSON Schema of scenario files, for editors",
				Action: func(c *cli.Context) error { return printJSON(c, scenario.Schema()) },
			},
		},
	}
}

func showScenario(c *cli.Context) error {
	if err := exactly(c, "PRESET or FILE"); err != nil {
		return err
	}
	name, sets := c.Args().First(), c.StringSlice("set")
	var e scenario.Experiment
	var err error
	if data, ok := presets()[name]; ok {
		e, err = scenario.Parse("preset "+name, data, known(), sets...)
	} else {
		e, err = scenario.Load(name, known(), sets...)
	}
	if err != nil {
		return err
	}
	return scenario.Write(c.App.Writer, e)
}
