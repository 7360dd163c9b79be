package main

import (
	"github.com/urfave/cli/v2"
)

func workloadCommand() *cli.Command {
	return &cli.Command{
		Name:  "workload",
		Usage: "read, describe, fit and generate workloads",
		Description: `A log is a file in the Standard Workload Format, plain or gzip; a plan is a CSV
file of jobs that an experiment can run as it is; a model draws plans.`,
		Subcommands: []*cli.Command{
			describeCommand(),
			fitCommand(),
			compareCommand(),
			generateCommand(),
			convertCommand(),
			scheduleCommand(),
			table1Command(),
			filtersCommand(),
		},
	}
}
