package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"bourse/experiments"
	"bourse/experiments/papers"
	"bourse/experiments/results"
	"bourse/experiments/scenario"

	"github.com/urfave/cli/v2"
)

func reproduceCommand() *cli.Command {
	return &cli.Command{
		Name:  "reproduce",
		Usage: "run what the papers' claims are about, and judge them all",
		Description: `Runs each preset that a claim of the five papers is about, as often as it takes to decide
most of them, with a seed of its own and into a directory of its own; then prints the
verdicts, as 'bourse claims' does, and writes them as verdicts.md. It says beforehand how
long it will take. Stopped, the same command goes on: what is finished is not run again.

   bourse reproduce --plan
   bourse reproduce --traces LOGS
   bourse reproduce --paper market --replications 100`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "traces", Usage: "find the recorded logs that papers used in `DIR` (SWF, plain or gzip), by the first letters of their names; without it jobs are generated"},
			&cli.StringSliceFlag{Name: "paper", Usage: "reproduce `PAPER` alone: market, librarisk, librasla, reservations or volunteers; may be repeated"},
			&cli.IntFlag{Name: "replications", Aliases: []string{"n"}, Usage: "repeat none more than `N` times, to see it work"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: filepath.Join("results", "reproduction"), Usage: "write results to `DIR`"},
			workersFlag("replications"),
			&cli.BoolFlag{Name: "plan", Usage: "list what would be run, and run nothing"},
			noProgressFlag(),
			&cli.StringFlag{Name: "tables", Value: results.None.String(), Usage: "keep jobs, prices and metrics as `FORM`, as 'bourse run' does: both, parquet, csv or none but metrics"},
			outputFlag(claimsJSON()),
		},
		Action: reproduceAction,
	}
}

func reproduceAction(c *cli.Context) error {
	if err := checkWorkers(c); err != nil {
		return err
	}
	parts, err := reproduced(c)
	if err != nil {
		return err
	}
	if c.Bool("plan") {
		return listParts(c, parts)
	}
	note(c, "%s", expected(c, parts))
	var dirs []*results.Dir
	for i := range parts {
		p := &parts[i]
		if err := p.run(c); err != nil {
			return err
		}
		dir, err := results.Open(p.dir)
		if err != nil {
			return err
		}
		dirs = append(dirs, dir)
	}
	all, err := papers.Judge(dirs, false)
	if err != nil {
		return err
	}
	page := filepath.Join(c.String("out"), "verdicts.md")
	if err := os.WriteFile(page, []byte(papers.Markdown(all)), 0o644); err != nil {
		return err
	}
	return show(c, papers.Document(all, terminal(c), true), []string{page})
}

// A part of the reproduction, ready to run.
type part struct {
	papers.Part
	choice
	dir  string
	done bool // by an earlier run
}

// reproduced returns the parts that c asks for.
func reproduced(c *cli.Context) ([]part, error) {
	all := papers.Reproduced()
	var names []string
	for _, p := range all {
		if !slices.Contains(names, p.Paper) {
			names = append(names, p.Paper)
		}
	}
	wanted := c.StringSlice("paper")
	for _, name := range wanted {
		if !slices.Contains(names, name) {
			return nil, usagef("--paper: %s", scenario.Unknown(name, names))
		}
	}
	most := c.Int("replications")
	if c.IsSet("replications") && most < 1 {
		return nil, usagef("--replications: found %d, want at least 1", most)
	}
	var parts []part
	for _, p := range all {
		if len(wanted) > 0 && !slices.Contains(wanted, p.Paper) {
			continue
		}
		if c.IsSet("replications") {
			p.Replications = min(p.Replications, most)
		}
		one := part{Part: p, dir: filepath.Join(c.String("out"), p.Preset)}
		if err := one.choose(c); err != nil {
			return nil, err
		}
		parts = append(parts, one)
	}
	return parts, nil
}

// choose readies the scenario of p, and looks whether it has been run.
func (p *part) choose(c *cli.Context) (err error) {
	known := experiments.Known()
	sets := []string{"seed=" + strconv.FormatUint(p.Seed, 10), "replications=" + strconv.Itoa(p.Replications)}
	p.command = []string{"bourse", "run", "--preset", p.Preset}
	if traces := c.String("traces"); traces != "" && p.Log != "" {
		if known.Log, err = logIn(traces, p.Log); err != nil {
			return err
		}
		p.command = append(p.command, "--trace", known.Log)
	}
	for _, s := range sets {
		p.command = append(p.command, "--set", s)
	}
	if p.experiment, err = scenario.Parse("preset "+p.Preset, papers.Presets()[p.Preset], known, sets...); err != nil {
		return err
	}
	p.done = p.finished()
	return nil
}

// finished reports whether an earlier run has left the results of p, whichever bourse ran it.
func (p *part) finished() bool {
	dir, err := results.Open(p.dir)
	if err != nil {
		return false
	}
	stored, err := scenario.Stored(dir.Path, dir.Manifest.Scenario)
	if err != nil {
		return false
	}
	found, want := stored.Expanded(), p.experiment.Expanded()
	return scenario.Differ(&found, &want) == nil
}

// time returns the seconds that p takes with the workers of c.
func (p *part) time(c *cli.Context) float64 {
	return p.Seconds * float64(p.Replications) / float64(c.Int("workers"))
}

// logIn returns the file in dir whose name begins so.
func logIn(dir, name string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", usagef("--traces: %w", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), name) && !e.IsDir() {
			return filepath.Join(dir, e.Name()), nil
		}
	}
	return "", usagef("--traces: found no log in %s whose name begins with %s; it is in the Parallel Workloads Archive", dir, name)
}

// run runs p, unless it has been.
func (p *part) run(c *cli.Context) error {
	if p.done {
		note(c, "%s: found finished in %s", p.Preset, p.dir)
		return nil
	}
	elapsed := stopwatch()
	if _, err := runChoice(c, p.choice, p.dir, elapsed); err != nil {
		return err
	}
	note(c, "%s: %s in %s; results in %s", p.Preset, count(p.Replications, "replication"), rounded(elapsed()), p.dir)
	said, err := auditRun(c, p.dir)
	if err != nil {
		return err
	}
	note(c, "%s: ledgers: %s", p.Preset, said)
	return nil
}

// listParts prints what would be run.
func listParts(c *cli.Context, parts []part) error {
	w := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "paper\tpreset\treplications\ttime\tlog\t")
	for _, p := range parts {
		what := p.Log
		if p.done {
			what = "found finished"
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t\n", p.Paper, p.Preset, p.Replications, rounded(p.time(c)), what)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(c.App.Writer, expected(c, parts))
	return err
}

// expected says what is left to run of parts, and how long that takes.
func expected(c *cli.Context, parts []part) string {
	n, left := 0, 0.0
	for _, p := range parts {
		if !p.done {
			n++
			left += p.time(c)
		}
	}
	return fmt.Sprintf("%s to run: about %s with %s", count(n, "preset"), rounded(left), count(c.Int("workers"), "worker"))
}

// rounded returns seconds as people say them.
func rounded(seconds float64) time.Duration {
	unit := time.Second
	if seconds >= 600 {
		unit = time.Minute
	}
	return time.Duration(seconds * float64(time.Second)).Round(unit)
}
