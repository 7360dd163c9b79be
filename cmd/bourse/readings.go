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
compare all variants of a scenario with a paper

A paper may leave settings of its experiment open. FILE (YAML) names a scenario or a preset, the
unknown settings (factors), and a table of the paper's numbers. Each factor has a path in the
scenario and labelled values. The first value is the one in the scenario. The table is a CSV file
with the columns configuration, admission, metric and value and, if known, to, error and source.
Without a table, the command uses the paper's numbers.

A variant (also called a reading) chooses one value for each factor. The command runs the variants
of an orthogonal array, and all variants that differ from the scenario in only one factor. The
distance of a variant is the root mean square of its z scores for the paper's numbers. For each
factor, the command reports the fraction of the variance of this distance that the factor explains.
It runs the closest variants again with other seeds, because some of them may be close by chance. It
prints text, and writes readings.html, a specification curve, and tables as CSV and JSON. To resume
an interrupted run, repeat the command.

   bourse paper readings                             the market paper's, a few minutes
   bourse paper readings -n 5                        a first look
   bourse paper readings mine.yaml --out results/mine`, readingsAction)

type readingsOptions struct {
	Preset                       string `of:"readings" doc:"run the preset {NAME} instead of a file"`
	Replications                 int    `alias:"n" shown:"as the file says" validate:"min=2,max=1e6" doc:"repeat every variant {N} times"`
	Workers                      int    `default:"cpus" validate:"min=1" doc:"run {N} replications in parallel; the results do not depend on N"`
	Out                          string `alias:"o" shown:"results/ and the file's name" doc:"write results to {DIR}"`
	Fresh                        bool   `doc:"discard the results of an interrupted run"`
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
			note(c, "found %d of %s from an earlier run", done, count(total, "replication"))
		},
	}
	d, err := r.Find(c.Context, experiments.Options{Workers: o.Workers, Progress: progress(c, r.Name)}, to)
	if other := new(results.OtherError); errors.As(err, &other) {
		return misuse.Errorf("%s contains other variants, or variants of another version; discard them with --fresh, or write elsewhere", dir)
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

// readReadings reads the readings from the file in c's first argument or, if there is no file,
// from the preset.
func readReadings(c *cli.Context, preset string) (*study.Readings, error) {
	presets := papers.Readings()
	file := c.Args().First()
	switch {
	case file != "" && preset != "":
		return nil, usagef("found both a file and --preset, want only one of them")
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
