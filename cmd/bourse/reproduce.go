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

var reproduceCommand = command(`run
run the papers' presets, and judge all claims

The command runs each preset to which the claims of the five papers refer, with enough replications
to decide most claims. It first prints the estimated duration of the runs. Each preset has its own
seed and directory. The command then prints the verdicts, as 'bourse paper claims' does, and writes
them to verdicts.md. To resume a stopped run, repeat the command; finished presets are not run
again.

   bourse paper run --plan
   bourse paper run --traces LOGS
   bourse paper run --paper market --replications 100`, reproduceAction)

type reproduceOptions struct {
	partsOptions                 `yaml:",inline"`
	Plan                         bool `doc:"list the presets, without running them"`
	noProgressOption             `yaml:",inline"`
	Tables                       string `default:"none" doc:"store jobs and prices in {FORM}: both, parquet, csv or none"`
	json3Option[[]papers.Judged] `yaml:",inline"`
}

// A partsOptions contains the flags that select the parts to run.
type partsOptions struct {
	Traces       string   `doc:"find the papers' logs (SWF, plain or gzip) in {DIR}, by name (default: generate jobs)"`
	Paper        []string `doc:"reproduce only {PAPER}: market, librarisk, librasla, reservations or volunteers; may be repeated"`
	Replications int      `alias:"n" validate:"min=1" doc:"limit the replications of each preset to {N}"`
	Out          string   `alias:"o" default:"results/reproduction" doc:"write results to {DIR}"`
	Workers      int      `default:"cpus" validate:"min=1" doc:"run {N} replications in parallel; the results do not depend on N"`
}

func reproduceAction(c *cli.Context, o *reproduceOptions) error {
	parts, err := reproduced(&o.partsOptions)
	if err != nil {
		return err
	}
	if o.Plan {
		return listParts(c, parts, o.Workers)
	}
	note(c, "%s", expected(parts, o.Workers))
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
	rows, err := o.measureLog(c)
	if err != nil {
		return err
	}
	all, err := papers.Judge(dirs, false, rows)
	if err != nil {
		return err
	}
	page := filepath.Join(o.Out, "verdicts.md")
	written := []string{page}
	if rows != nil {
		path := filepath.Join(o.Out, "log.csv")
		if err := writeRows(path, rows); err != nil {
			return err
		}
		written = append(written, path)
	}
	if err := os.WriteFile(page, []byte(papers.Markdown(all)), 0o644); err != nil {
		return err
	}
	return show(c, papers.Document(all, terminal(c), true), written)
}

// blueHorizon is the start of the file name of the market paper's log.
const blueHorizon = "SDSC-BLUE-2000"

// measureLog measures the market paper's log. It returns no metrics if the paper is not run
// or the log is not among the traces.
func (o *partsOptions) measureLog(c *cli.Context) ([]results.Metric, error) {
	if o.Traces == "" || len(o.Paper) > 0 && !slices.Contains(o.Paper, "market") {
		return nil, nil
	}
	name, err := logIn(o.Traces, blueHorizon)
	if err != nil {
		note(c, "%s: found no log whose name begins with %s; claims about this log are not tested", o.Traces, blueHorizon)
		return nil, nil
	}
	return measureRows(c, name)
}

// writeRows writes rows as CSV.
func writeRows(path string, rows []results.Metric) error {
	var b strings.Builder
	b.WriteString("configuration,admission,replication,metric,value\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "%s,%s,%d,%s,%s\n", r.Configuration, r.Admission, r.Replication, r.Metric, strconv.FormatFloat(*r.Value, 'g', -1, 64))
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

var paperListCommand = command(`list
list the presets of 'paper run' with their times

   bourse paper list
   bourse paper list --traces LOGS --paper market`, func(c *cli.Context, o *partsOptions) error {
	parts, err := reproduced(o)
	if err != nil {
		return err
	}
	return listParts(c, parts, o.Workers)
})

// A part is a part of the reproduction that is ready to run.
type part struct {
	papers.Part
	choice
	dir  string
	done bool // whether an earlier run has completed the part
}

// reproduced returns the parts selected by the flags.
func reproduced(o *partsOptions) ([]part, error) {
	all := papers.Reproduced()
	var names []string
	for _, p := range all {
		if !slices.Contains(names, p.Paper) {
			names = append(names, p.Paper)
		}
	}
	wanted := o.Paper
	for _, name := range wanted {
		if !slices.Contains(names, name) {
			return nil, usagef("--paper: %s", scenario.Unknown(name, names))
		}
	}
	var parts []part
	for _, p := range all {
		if len(wanted) > 0 && !slices.Contains(wanted, p.Paper) {
			continue
		}
		if o.Replications > 0 {
			p.Replications = min(p.Replications, o.Replications)
		}
		one := part{Part: p, dir: filepath.Join(o.Out, p.Preset)}
		if err := one.choose(o.Traces); err != nil {
			return nil, err
		}
		parts = append(parts, one)
	}
	return parts, nil
}

// choose prepares the scenario of p and determines whether p has already been run.
func (p *part) choose(traces string) (err error) {
	known := experiments.Known()
	sets := []string{"seed=" + strconv.FormatUint(p.Seed, 10), "replications=" + strconv.Itoa(p.Replications)}
	if len(p.Metrics) > 0 {
		sets = append(sets, "figure.metrics=["+strings.Join(p.Metrics, ", ")+"]")
	}
	p.command = []string{"bourse", "run", "--preset", p.Preset}
	if traces != "" && p.Log != "" {
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

// finished reports whether an earlier run, by any version, has written the results of p.
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

// time returns the estimated run time of p with the given number of workers, in seconds.
func (p *part) time(workers int) float64 {
	return p.Seconds * float64(p.Replications) / float64(workers)
}

// logIn returns the file in dir whose name begins with the given text.
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
	return "", usagef("--traces: found no log in %s whose name begins with %s; download it from the Parallel Workloads Archive", dir, name)
}

// run runs p unless it was run before.
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

// listParts prints the parts that will be run.
func listParts(c *cli.Context, parts []part, workers int) error {
	w := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "paper\tpreset\treplications\ttime\tlog\t")
	for _, p := range parts {
		what := p.Log
		if p.done {
			what = "found finished"
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t\n", p.Paper, p.Preset, p.Replications, rounded(p.time(workers)), what)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(c.App.Writer, expected(parts, workers))
	return err
}

// expected describes the remaining parts and their run time.
func expected(parts []part, workers int) string {
	n, left := 0, 0.0
	for _, p := range parts {
		if !p.done {
			n++
			left += p.time(workers)
		}
	}
	return fmt.Sprintf("%s to run: about %s with %s", count(n, "preset"), rounded(left), count(workers, "worker"))
}

// rounded formats a duration in seconds for people.
func rounded(seconds float64) time.Duration {
	unit := time.Second
	if seconds >= 600 {
		unit = time.Minute
	}
	return time.Duration(seconds * float64(time.Second)).Round(unit)
}
