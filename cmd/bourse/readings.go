package main

import (
	"errors"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"bourse/experiments"
	"bourse/experiments/misuse"
	"bourse/experiments/papers"
	"bourse/experiments/publication"
	"bourse/experiments/results"
	"bourse/experiments/study"

	"github.com/urfave/cli/v2"
)

var readingsCommand = command(`readings [FILE]
run all interpretations of a scenario against a paper

A paper leaves decisions open. FILE (YAML) names a scenario or preset, the decisions
(factors: a path in the scenario, and labelled values of which the first is its own),
and a table of printed numbers (CSV: configuration, admission, metric, value; and, where
they are known, to, error, source); without one they are the paper's.

A reading is a choice of one value each. Those of an orthogonal array are run, and each
change alone; each reading's distance is the root mean square of z over the numbers. It
says what part of the variance of the distance each factor explains, and runs the
nearest readings again with other seeds: the nearest of many are near by chance, too.
Text, readings.html, a specification curve, and tables as CSV and JSON.

A run that is interrupted keeps what it has found, and the same command goes on.

   bourse paper readings                             the market paper's, a few minutes
   bourse paper readings -n 5                        a first look
   bourse paper readings mine.yaml --out results/mine`, readingsAction)

type readingsOptions struct {
	Preset                       string `of:"readings" doc:"run the preset {NAME} instead of a file"`
	Replications                 int    `alias:"n" shown:"as the file says" validate:"min=2,max=1e6" doc:"repeat every reading {N} times"`
	Workers                      int    `default:"cpus" validate:"min=1" doc:"run {N} replications at once; results do not depend on it"`
	Out                          string `alias:"o" shown:"results/ and the file's name" doc:"write results to {DIR}"`
	Fresh                        bool   `doc:"drop the results of an interrupted run"`
	noProgressOption             `yaml:",inline"`
	output[study.ReadingsValues] `yaml:",inline"`
}

func readingsAction(c *cli.Context, o *readingsOptions) error {
	r, err := readReadings(c, o.Preset)
	if err != nil {
		return err
	}
	if c.IsSet("replications") {
		r.Replications = o.Replications
	}
	elapsed := stopwatch()
	dir := orElse(o.Out, "results", r.Name)
	to := publication.Target{
		Dir: dir, Command: []string{"bourse", "readings"}, Elapsed: elapsed, Fresh: o.Fresh,
		Found: func(done, total int) {
			note(c, "found %d of %s of an earlier run", done, count(total, "replication"))
		},
	}
	d, err := r.Find(c.Context, experiments.Options{Workers: o.Workers, Progress: progress(c, r.Name)}, to)
	if other := new(results.OtherError); errors.As(err, &other) {
		return misuse.Errorf("%s was begun by other readings, or by another bourse; drop it with --fresh, or write elsewhere", dir)
	}
	if err != nil {
		return standing(filepath.Join(dir, "first"), err)
	}
	wrote, err := writeDocument(dir, "readings.html", d)
	if err != nil {
		return err
	}
	if err := show(c, d, wrote); err != nil {
		return err
	}
	note(c, "in %.1f s; a page in %s", elapsed(), filepath.Join(dir, "readings.html"))
	return nil
}

// readReadings reads the file that the argument of c names, or else the preset.
func readReadings(c *cli.Context, preset string) (*study.Readings, error) {
	presets := papers.Readings()
	file := c.Args().First()
	switch {
	case file != "" && preset != "":
		return nil, usagef("a file and --preset: want one of them")
	case file != "":
		in, err := open(c, file)
		if err != nil {
			return nil, misuse.Of(err)
		}
		defer in.Close()
		text, err := io.ReadAll(io.LimitReader(in, 1<<20))
		if err != nil {
			return nil, err
		}
		return study.ReadReadings(file, text)
	case preset == "":
		preset = slices.Sorted(maps.Keys(presets))[0]
	}
	return study.ReadReadings("preset "+preset, presets[preset])
}
