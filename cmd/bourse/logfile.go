package main

import (
	"errors"
	"os"

	"github.com/urfave/cli/v2"

	"bourse/experiments/fitlab"
	"bourse/workloadgen"
	"bourse/workloadgen/config"
	"bourse/workloadgen/describe"
	"bourse/workloadgen/models"
)

// readLog reads a log or a plan and returns the records that pass the filter.
func readLog(c *cli.Context, name, filter string) (*fitlab.Log, error) {
	return await(c.Context, func() (*fitlab.Log, error) { return fitlab.ReadLog(name, filter) })
}

// tell prints how the lines of a log were interpreted.
func tell(c *cli.Context, l *fitlab.Log) {
	for _, line := range l.Told() {
		note(c, "%s", line)
	}
}

// measureLog reads the log that the command line names, prints how its lines were interpreted,
// and measures the log for the given purpose.
func measureLog(c *cli.Context, purpose string) (*fitlab.Log, *describe.Log, error) {
	file, err := readLog(c, c.Args().First(), c.String("filter"))
	if err != nil {
		return nil, nil, err
	}
	tell(c, file)
	log, err := file.Measure(purpose)
	return file, log, err
}

// model creates a model from its name with options as YAML, or from a file.
func model(c *cli.Context, name, options string) (workloadgen.Model, error) {
	if _, err := os.Stat(name); err == nil {
		f, err := readModel(c, name)
		if err != nil {
			return nil, err
		}
		if options != "" {
			return nil, errors.New("--options: want none, because the model file contains the options")
		}
		return f.New()
	}
	return models.Table().New(name, func(v any) error {
		return config.Read("--options", []byte(options), v)
	})
}

// readModel reads a model file.
func readModel(c *cli.Context, name string) (models.File, error) {
	return await(c.Context, func() (models.File, error) { return models.ReadFile(name) })
}
