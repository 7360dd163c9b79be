package main

import (
	"errors"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"bourse/experiments"
	"bourse/experiments/misuse"
	"bourse/experiments/papers"
	"bourse/experiments/readings"
	"bourse/experiments/results"
	"bourse/experiments/scenario"

	"github.com/urfave/cli/v2"
)

func readingsCommand() *cli.Command {
	presets := slices.Sorted(maps.Keys(papers.Readings()))
	return &cli.Command{
		Name:      "readings",
		Usage:     "run a scenario in all the ways that it can be read, against printed numbers",
		ArgsUsage: "[FILE]",
		Description: `A paper leaves decisions open. FILE (YAML) names a scenario or preset, the decisions
(factors: a path in the scenario, and labelled values of which the first is its own),
and a table of printed numbers (CSV: configuration, admission, metric, value; and, where
they are known, to, error, source); without one they are the paper's.

A reading is a choice of one value each. Those of an orthogonal array are run, and each
change alone; each reading's distance is the root mean square of z over the numbers. It
says what part of the variance of the distance each factor explains, and runs the
nearest readings again with other seeds: the nearest of many are near by chance, too.
Text, readings.html, a specification curve, and tables as CSV and JSON.

A run that is interrupted keeps what it has found, and the same command goes on.

   bourse readings                             the market paper's, a few minutes
   bourse readings -n 5                        a first look
   bourse readings mine.yaml --out results/mine`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "preset", Usage: "run the preset `NAME` in place of a file: " + strings.Join(presets, ", ")},
			&cli.IntFlag{Name: "replications", Aliases: []string{"n"}, DefaultText: "as the file says", Usage: "repeat every reading `N` times"},
			workersFlag("replications"),
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write results to `DIR` (default: results/ and the file's name)"},
			&cli.BoolFlag{Name: "fresh", Usage: "drop what an interrupted run has left"},
			noProgressFlag(),
		}, outputFlags[readings.Values]()...),
		Action: readingsAction,
	}
}

func readingsAction(c *cli.Context) error {
	if err := checkWorkers(c); err != nil {
		return err
	}
	r, err := readReadings(c)
	if err != nil {
		return err
	}
	if c.IsSet("replications") {
		if r.Replications = c.Int("replications"); r.Replications < 2 || r.Replications > 1e6 {
			return usagef("--replications: found %d, want 2 to 1000000", r.Replications)
		}
	}
	elapsed := stopwatch()
	dir := orElse(c.String("out"), "results", r.Name)
	to := experiments.Publication{
		Dir: dir, Command: []string{"bourse", "readings"}, Elapsed: elapsed, Fresh: c.Bool("fresh"),
		Found: func(done, total int) {
			note(c, "found %d of %s of an earlier run", done, count(total, "replication"))
		},
	}
	d, err := r.Find(c.Context, experiments.Options{Workers: c.Int("workers"), Progress: progress(c, r.Name)}, to)
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
func readReadings(c *cli.Context) (*experiments.Readings, error) {
	presets := papers.Readings()
	file, preset := c.Args().First(), c.String("preset")
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
		return experiments.ReadReadings(file, text)
	case preset == "":
		preset = slices.Sorted(maps.Keys(presets))[0]
	}
	text, ok := presets[preset]
	if !ok {
		return nil, usagef("--preset: %s", scenario.Unknown(preset, slices.Sorted(maps.Keys(presets))))
	}
	return experiments.ReadReadings("preset "+preset, text)
}
