package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"bourse/experiments"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/scenario"

	"github.com/urfave/cli/v2"
)

func runCommand() *cli.Command {
	return &cli.Command{
		Name:      "run",
		Usage:     "run an experiment: the paper's, or a scenario file's",
		ArgsUsage: "[FILE]",
		Description: `Runs every configuration under each of its admission policies, prints what was
measured beside what the paper prints, and writes a results directory: tables,
figures, ledgers, and report.html. An older results directory of that name is
replaced; anything else there is left alone.

   bourse run                                  the paper: 4 workloads, BE SAC CAC RAC
   bourse run --replications 60 --workers 4
   bourse scenario show paper > mine.yaml      a file to edit
   bourse run mine.yaml --out results/mine
   bourse run --set configurations.pareto-high.fleet.hosts=30 --set replications=20`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "preset", Usage: "run the preset `NAME` in place of a file: " + strings.Join(presetNames(), ", ")},
			&cli.StringFlag{Name: "replications", Aliases: []string{"n"}, Usage: "repeat every configuration `N` times, each with its own workload"},
			&cli.StringFlag{Name: "seed", Usage: "derive every use of chance from `SEED`"},
			&cli.StringSliceFlag{Name: "set", Usage: "override a field of the scenario: `PATH=VALUE`"},
			&cli.IntFlag{Name: "workers", Value: runtime.NumCPU(), Usage: "run `N` replications at once; results do not depend on it"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write results to `DIR` (default: results/ and the scenario's name)"},
			&cli.BoolFlag{Name: "ledger", Usage: "keep the ledger of every replication, not of the first only"},
			&cli.BoolFlag{Name: "no-progress", Usage: "show no progress"},
		}, outputFlags()...),
		Action: runAction,
	}
}

func presetNames() []string { return slices.Sorted(maps.Keys(presets())) }

func runAction(c *cli.Context) error {
	elapsed := stopwatch()
	if err := between(c, 0, 1, "FILE"); err != nil {
		return err
	}
	out, err := terminal(c, c.App.Writer)
	if err != nil {
		return err
	}
	if n := c.Int("workers"); n < 1 {
		return usagef("--workers: found %d, want at least 1", n)
	}
	chosen, err := choose(c)
	if err != nil {
		return err
	}
	e := &chosen.experiment
	if err := experiments.Check(e); err != nil {
		return usageError{err}
	}
	var text bytes.Buffer
	if err := scenario.Write(&text, *e); err != nil {
		return err
	}
	dir := c.String("out")
	if dir == "" {
		dir = filepath.Join("results", e.Name)
	}
	s, err := experiments.Publish(c.Context, e,
		experiments.Options{Workers: c.Int("workers"), Progress: progress(c, e.Name)},
		experiments.Publication{
			Dir: dir, Ledgers: c.Bool("ledger"), Paper: experiments.PaperOf(e.Name), Scenario: text.String(),
			Command: chosen.command, Inputs: chosen.inputs, Elapsed: elapsed,
		})
	if err != nil {
		return err
	}
	if err := printStudy(c, out, s, dir); err != nil {
		return err
	}
	note(c, "%d replications of %d configurations in %.1f s; results in %s, a page in %s",
		e.Replications, len(e.Configurations), elapsed(), dir, filepath.Join(dir, "report.html"))
	return auditRun(c, dir)
}

// A choice is the experiment that the user chose, and how.
type choice struct {
	experiment scenario.Experiment
	command    []string          // runs it again
	inputs     map[string]string // sha256 of every file read
}

// choose reads the scenario that the flags and the argument of c name.
func choose(c *cli.Context) (ch choice, err error) {
	sets := c.StringSlice("set")
	for _, name := range []string{"replications", "seed"} {
		if v := c.String(name); v != "" {
			if _, err := strconv.ParseUint(v, 10, 64); err != nil {
				return ch, usagef("--%s: found %q, want a whole number", name, v)
			}
			sets = append(sets, name+"="+v)
		}
	}
	ch.command, ch.inputs = []string{"bourse", "run"}, map[string]string{}
	file, preset := c.Args().First(), c.String("preset")
	switch {
	case file != "" && preset != "":
		return ch, usagef("a file and --preset: want one of them")
	case file != "":
		ch.command = append(ch.command, file)
		if ch.experiment, err = scenario.Load(file, known(), sets...); err != nil {
			return ch, err
		}
		if ch.inputs[file], err = results.HashFile(file); err != nil {
			return ch, err
		}
	default:
		if preset == "" {
			preset = "paper"
		}
		data, ok := presets()[preset]
		if !ok {
			return ch, usagef("--preset: found %q, want one of %s", preset, strings.Join(presetNames(), ", "))
		}
		ch.command = append(ch.command, "--preset", preset)
		if ch.experiment, err = scenario.Parse("preset "+preset, data, known(), sets...); err != nil {
			return ch, err
		}
	}
	for _, s := range sets {
		ch.command = append(ch.command, "--set", s)
	}
	for i := range ch.experiment.Configurations {
		w := &ch.experiment.Configurations[i].Workload
		if file := w.Plan + w.SWF; file != "" {
			if ch.inputs[file], err = results.HashFile(file); err != nil {
				return ch, err
			}
		}
	}
	return ch, nil
}

// printStudy prints the tables of s, or its rows as JSON.
func printStudy(c *cli.Context, out report.Terminal, s *experiments.Study, dir string) error {
	paper := experiments.PaperOf(s.Experiment.Name)
	rows := s.SummaryRows(paper)
	if c.Bool("json") {
		return printJSON(c, struct {
			Results string            `json:"results"`
			Summary []results.Summary `json:"summary"`
			Curve   []results.Point   `json:"curve"`
		}{dir, rows, s.CurveRows()})
	}
	for _, t := range experiments.Tables(rows, experiments.TTests(s.MetricRows(), paper), s.Experiment.Replications) {
		if _, err := fmt.Fprintln(c.App.Writer, t.Text(out)); err != nil {
			return err
		}
	}
	return nil
}

// printJSON prints v for programs.
func printJSON(c *cli.Context, v any) error {
	enc := json.NewEncoder(c.App.Writer)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
