package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"bourse/experiments"
	"bourse/workloadgen"
	"bourse/workloadgen/models"
	"bourse/workloadgen/swf"

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

func generateCommand() *cli.Command {
	return &cli.Command{
		Name:      "generate",
		Usage:     "draw a plan from a model",
		ArgsUsage: "MODEL",
		Description: `MODEL is a name ('bourse policies model') or a model file, as 'workload fit' writes
it. Prints the plan as CSV, or writes it to files. The same model, number and seed
give the same plan: replication R of an experiment with seed S runs
'--seed S --replication R'.

   bourse workload generate paper > plan.csv
   bourse workload generate paper --options '{jobs: 100, value: normal}' --seed 3
   bourse workload generate lublin -n 10000 --swf lublin.swf`,
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "n", DefaultText: "as many as the model's options say", Usage: "draw `N` jobs"},
			seedFlag(),
			&cli.IntFlag{Name: "replication", Usage: "draw the plan of replication `R`, from 0"},
			&cli.StringFlag{Name: "options", Usage: "options of the model as a YAML mapping"},
			&cli.StringFlag{Name: "csv", Usage: "write the plan to `FILE`, with values and deadlines"},
			&cli.StringFlag{Name: "swf", Usage: "write it as a log to `FILE`, which has no place for values"},
			jsonFlag(),
		},
		Action: generateAction,
	}
}

func generateAction(c *cli.Context) error {
	if err := exactly(c, "MODEL"); err != nil {
		return err
	}
	if n := c.Int("n"); n < 0 {
		return usagef("-n: found %d, want at least 0", n)
	}
	if r := c.Int("replication"); r < 0 {
		return usagef("--replication: found %d, want at least 0", r)
	}
	m, err := model(c, c.Args().First(), c.String("options"))
	if err != nil {
		return usageError{err}
	}
	plan, err := m.Plan(experiments.Stream(c.Uint64("seed"), c.Int("replication"), "workload"), c.Int("n"), nil)
	if err != nil {
		return usageError{err}
	}
	return writePlan(c, plan)
}

// model makes the model of a name, with options as YAML, or of a file.
func model(c *cli.Context, name, options string) (workloadgen.Model, error) {
	if _, err := os.Stat(name); err == nil {
		f, err := readModel(c, name)
		if err != nil {
			return nil, err
		}
		if options != "" {
			return nil, errors.New("--options: the model file has them")
		}
		return f.New()
	}
	return models.Table().New(name, func(v any) error {
		if options == "" {
			return nil
		}
		if err := models.Options([]byte(options), v); err != nil {
			return fmt.Errorf("--options: %w", err)
		}
		return nil
	})

}

// readModel reads a model file.
func readModel(c *cli.Context, name string) (models.File, error) {
	return await(c.Context, func() (models.File, error) { return models.ReadFile(name) })
}

// writePlan writes plan to the files that c names, or prints it as CSV; as JSON, if
// that is asked for.
func writePlan(c *cli.Context, plan workloadgen.Plan) error {
	if c.Bool("json") {
		if err := buffered(c, c.App.Writer, func(w io.Writer) error { return json.NewEncoder(w).Encode(plan) }); err != nil {
			return err
		}
	} else if c.String("csv") == "" && c.String("swf") == "" {
		return buffered(c, c.App.Writer, func(w io.Writer) error { return workloadgen.WriteCSV(w, plan) })
	}
	if name := c.String("csv"); name != "" {
		if err := writeFile(c, name, func(w io.Writer) error { return workloadgen.WriteCSV(w, plan) }); err != nil {
			return err
		}
	}
	if name := c.String("swf"); name != "" {
		return writeFile(c, name, swf.FromPlan(plan).Write)
	}
	return nil
}

func filtersCommand() *cli.Command {
	return &cli.Command{
		Name:  "filters",
		Usage: "list the filters of logs",
		Description: `Filters are joined by commas and applied from left to right.

   bourse workload filters
   bourse workload describe KTH.swf.gz --filter last:3000,ran`,
		Flags: []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			if err := exactly(c); err != nil {
				return err
			}
			type filter struct {
				Filter string `json:"filter"`
				Doc    string `json:"doc"`
			}
			var all []filter
			for _, name := range swf.FilterNames() {
				all = append(all, filter{name, swf.FilterDoc(name)})
			}
			if c.Bool("json") {
				return printJSON(c, all)
			}
			for _, f := range all {
				if _, err := fmt.Fprintf(c.App.Writer, "%-14s %s\n", f.Filter, f.Doc); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func convertCommand() *cli.Command {
	return &cli.Command{
		Name:      "convert",
		Usage:     "turn a log into a plan, or a plan into a log",
		ArgsUsage: "FILE",
		Description: `A file that ends in .csv is a plan; every other is a log. What became of each line
is told on standard error.

   bourse workload convert KTH.swf.gz --filter ran,last:3000 --csv plan.csv
   bourse workload convert plan.csv --swf plan.swf`,
		Flags: []cli.Flag{
			filterFlag(),
			&cli.StringFlag{Name: "csv", Usage: "write a plan to `FILE`"},
			&cli.StringFlag{Name: "swf", Usage: "write a log to `FILE`"},
			jsonFlag(),
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "do not tell what became of the lines"},
		},
		Action: func(c *cli.Context) error {
			if err := exactly(c, "FILE"); err != nil {
				return err
			}
			plan, told, err := readWorkload(c, c.Args().First(), c.String("filter"))
			if err != nil {
				return err
			}
			for _, line := range told {
				note(c, "%s", line)
			}
			return writePlan(c, plan)
		},
	}
}

// readWorkload reads a plan or a log, and tells what became of its lines.
func readWorkload(c *cli.Context, name, filter string) (plan workloadgen.Plan, told []string, err error) {
	if isPlan(name) {
		if filter != "" {
			return nil, nil, usagef("--filter: %s is a plan, want a log", name)
		}
		plan, err = readPlan(c, name)
		return plan, nil, err
	}
	l, err := readLog(c, name, filter)
	if err != nil {
		return nil, nil, err
	}
	plan, acc := l.trace.Plan()
	return plan, append(l.told(), "as a plan: "+strings.TrimSpace(acc.String())), nil
}
