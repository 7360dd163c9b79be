package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"bourse/experiments"
	"bourse/experiments/misuse"
	"bourse/experiments/papers"
	"bourse/experiments/publication"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/workloadgen/config"

	"github.com/urfave/cli/v2"
)

var runCommand = command(`run [FILE]
run the experiment of a preset or a scenario file

The command runs every configuration under each of its admission policies, and prints the results
next to the paper's numbers. It writes tables, figures, ledgers and report.html to a results
directory. It replaces an older results directory of the same name, except for files that you
added, and never overwrites anything else. If FILE is -, the command reads standard input.

   bourse run                                  the paper: 4 workloads, BE SAC CAC RAC
   bourse run --replications 60 --workers 4
   bourse run --until efficiency_0.5=0.02
   bourse scenario show paper > mine.yaml      a file to edit
   bourse run mine.yaml --out results/mine
   bourse run --hosts 30 --load 1.2 --policy be,cac --replications 40
   bourse run --set pareto-high:fleet.hosts=30 --set market.payment=bid --out results/bid

To resume a run that was interrupted or killed, repeat the command. Several machines can
share one run:

   bourse run mine.yaml --shard 1/2 --out one
   bourse run mine.yaml --shard 2/2 --out two      on another machine
   bourse run merge one two --out results/shared
   bourse run mine.yaml --on slurm --time 1:00:00  from a login node

If --preset names a paper, the command runs the presets of all the paper's figures and writes
the results of each to its own directory. Give the paper's log with --trace; otherwise jobs are
generated.

   bourse run --preset librarisk --trace SDSC-SP2-1998-4.1-cln.swf.gz

The availability of hosts (fleet.availability) is drawn from a model or, with --availability,
read from a trace. The command detects the trace's format from its first lines, unless
--availability-format states it. If the trace is a folder, its format is ucb, with one file per
host.

   bourse run mine.yaml --availability trace.csv.gz`, runAction)

type runOptions struct {
	Preset                          string `of:"preset" doc:"run the preset {NAME} instead of a file"`
	Replications                    string `alias:"n" doc:"repeat every configuration {N} times, each with its own workload"`
	Until                           string `doc:"stop when 95 % intervals are narrow everywhere: {METRIC=HALF-WIDTH} (default: 2000)"`
	givenOptions                    `yaml:",inline"`
	Workers                         int    `default:"cpus" validate:"min=1" doc:"run {N} replications in parallel; the results do not depend on N"`
	Out                             string `alias:"o" doc:"write results to {DIR} (default: results/NAME, with the scenario's name)"`
	Ledger                          bool   `doc:"store the ledgers of all replications, not only of the first"`
	Bank                            string `doc:"copy the stored ledgers to the PostgreSQL server at {URL}"`
	noProgressOption                `yaml:",inline"`
	unitOptions                     `yaml:",inline"`
	slurmOptions                    `yaml:",inline"`
	output[publication.StudyValues] `yaml:",inline"`
}

// givenOptions choose jobs and override fields of a scenario.
type givenOptions struct {
	Seed               string   `doc:"derive all random numbers from {SEED}"`
	Trace              string   `doc:"use the log {FILE} (SWF, plain or gzip) instead of the model"`
	Availability       string   `doc:"read the availability of hosts from the trace {FILE}, plain or gzip"`
	AvailabilityFormat string   `yaml:"availability-format" of:"trace" doc:"read the trace of --availability as {FORMAT}"`
	Hosts              string   `doc:"run each configuration on {N} hosts"`
	Load               string   `doc:"scale the gaps between arrivals to a load of {L}; 1 is full load"`
	Policy             string   `doc:"run only the admission policies {A,B}, with their options from the scenario"`
	Set                []string `doc:"override a field: {PATH=VALUE}, or NAME:PATH=VALUE in one configuration"`
}

func runAction(c *cli.Context, o *runOptions) error {
	if c.IsSet("bank") {
		if err := checkBank(o.Bank); err != nil {
			return err
		}
	}
	figures := papers.Figures(o.Preset)
	if len(figures) == 0 || c.NArg() > 0 {
		ch, err := choose(c, o.Preset)
		if err != nil {
			return err
		}
		return elsewhere(c, orElse(o.Out, "results", ch.experiment.Name), func(dir string) error { return runShown(c, ch, dir, false) })
	}
	return elsewhere(c, orElse(o.Out, "results", o.Preset), func(dir string) error { return runFigures(c, o, figures, dir) })
}

// If dir contains the results of another run and the user did not choose dir, elsewhere tries
// dir-2, dir-3 and so on. If dir has the results of another run and the user did not choose
// dir, elsewhere tries dir-2, dir-3 and so on.
func elsewhere(c *cli.Context, dir string, run func(dir string) error) error {
	for n, to := 2, dir; ; n++ {
		var other otherRun
		if err := run(to); c.IsSet("out") || !errors.As(err, &other) {
			return err
		}
		next := fmt.Sprintf("%s-%d", dir, n)
		note(c, "%s; this run writes its results to %s", other.what, next)
		to = next
	}
}

// runFigures runs all figures of a paper. The results of each figure have their own directory
// in dir.
func runFigures(c *cli.Context, o *runOptions, figures []string, dir string) error {
	for i, name := range figures {
		if o.Availability != "" && papers.OfModels(name) {
			note(c, "%s is omitted, because it generates the availability of hosts from models, and a trace was given", name)
			continue
		}
		ch, err := choose(c, name)
		if err != nil {
			return err
		}
		if err := runShown(c, ch, filepath.Join(dir, strings.TrimPrefix(name, o.Preset+"-")), true); err != nil {
			if i > 0 {
				note(c, "%s: %d of %d figures are complete", dir, i, len(figures))
				err = incomplete{err}
			}
			return err
		}
	}
	if !o.JSON && !o.Units && !c.IsSet("shard") {
		_, err := fmt.Fprintf(c.App.Writer, "\nPaper    bourse paper claims %s judges what the paper says\nPages    report.html beside each\nMore     bourse show tables|claims|compare|prices|jobs %s\n", dir, filepath.Join(dir, "FIGURE"))
		return err
	}
	return nil
}

// runShown runs one experiment and writes its results to dir. It prints a screen of results
// or, if brief is set, two lines.
func runShown(c *cli.Context, ch choice, dir string, brief bool) error {
	elapsed := stopwatch()
	s, err := runChoice(c, ch, dir, elapsed)
	if err != nil || s == nil {
		return err
	}
	if err := published(c, s, dir, elapsed, brief); err != nil || !c.IsSet("bank") {
		return err
	}
	return copyRun(c, dir, ch.experiment.Name, c.String("bank"))
}

// mostReplications is the maximum number of replications that a scenario may request.
const mostReplications = 1_000_000

// manyRows is the number of rows of the jobs table above which the results need almost all the
// memory.
const manyRows = 2_000_000

// runChoice runs one experiment and writes its results to dir. It returns nil if the flags
// do not request results, or if another command will write them.
func runChoice(c *cli.Context, ch choice, dir string, elapsed func() float64) (*publication.Report, error) {
	e := &ch.experiment
	text, err := ch.text()
	if err != nil {
		return nil, err
	}
	ready, err := prepare(c, e)
	if err != nil {
		return nil, misuse.Of(broken(err, ch.command, ch.streamed, dir, text))
	}
	if c.Bool("units") {
		return nil, listUnits(c, ready)
	}
	for _, line := range ready.Notes() {
		note(c, "%s", line)
	}
	if ready.JobRows() > manyRows && os.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(40))
	}
	to := publication.Target{
		Dir: dir, Ledgers: c.Bool("ledger"), Scenario: text,
		Command: ch.command, Source: ch.source, Notes: stands(e), Elapsed: elapsed,
		Fresh: c.Bool("fresh"),
		Fatal: func(err error) { os.Exit(conclude(c.Context, c.App.ErrWriter, unwritten(dir, err))) },
		Found: func(done, total int) {
			note(c, "found %d of %s from an earlier run", done, count(total, "replication"))
		},
	}
	if to.Tables, err = tables(c, ready); err != nil {
		return nil, err
	}
	if to.Shard, to.Of, err = shard(c); err != nil {
		return nil, err
	}
	if e.Until != nil && (c.IsSet("shard") || c.IsSet("on")) {
		return nil, usagef("until: found it with shards, which cannot decide when to stop: want a number of replications")
	}
	opts := experiments.Options{Workers: c.Int("workers"), Progress: progress(c, e.Name)}
	if c.IsSet("shard") {
		if c.Bool("fresh") {
			err = results.Forget(dir)
		}
		if err == nil {
			err = publication.Shard(c.Context, ready, opts, to)
		}
		if err != nil {
			return nil, kept(dir, broken(differs(err, dir), ch.command, ch.streamed, dir, text))
		}
		note(c, "shard %s took %.1f s; its units are in %s: merge them with 'bourse run merge'", c.String("shard"), elapsed(), dir)
		return nil, nil
	}
	left, err := results.Tidy(dir)
	if err != nil {
		return nil, err
	}
	for _, line := range left {
		note(c, "%s", line)
	}
	if !c.Bool("fresh") {
		if err := publication.Replaces(ready, &to); err != nil {
			return nil, differs(err, dir)
		}
	} else {
		where, err := results.Unfinished(dir)
		if err = errors.Join(err, results.Forget(where)); err != nil {
			return nil, err
		}
	}
	if c.IsSet("on") {
		done, err := onSlurm(c, ready, opts, to)
		if err != nil {
			return nil, standing(dir, differs(err, dir))
		}
		if !done {
			return nil, nil
		}
		to.Found = nil
	}
	s, err := publication.Publish(c.Context, ready, opts, to)
	if errors.Is(err, results.ErrNotResults) {
		return nil, usagef("%w; write elsewhere with --out DIR", err)
	}
	if err != nil {
		return nil, standing(dir, broken(differs(err, dir), ch.command, ch.streamed, dir, text))
	}
	return s, nil
}

// published prints which results were written and audits their ledgers.
func published(c *cli.Context, s *publication.Report, dir string, elapsed func() float64, brief bool) error {
	ledgers, err := auditRun(c, dir)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c, s.Document(dir).Values(nil))
	}
	text := s.Brief(dir)
	if !brief {
		text = s.Screen(terminal(c), dir, ledgers)
	}
	if _, err := io.WriteString(c.App.Writer, text); err != nil {
		return err
	}
	note(c, "%s of %s in %.1f s", count(s.Experiment.Replications, "replication"), count(len(s.Experiment.Configurations), "configuration"), elapsed())
	return nil
}

// unwritten returns an error that reports a ledger that could not be written.
func unwritten(dir string, err error) error {
	var cause syscall.Errno
	if errors.As(err, &cause) {
		err = cause
	}
	return fmt.Errorf("write results: %s: %w; the incomplete files remain until you repeat the command", dir, err)
}

// A choice is the experiment that the user chose, with its settings.
type choice struct {
	experiment scenario.Experiment
	command    []string         // runs it again
	source     publication.File // scenario file, if there is one
	streamed   bool             // the scenario was read from a stream
}

// text returns the scenario as the text of a file.
func (ch *choice) text() (string, error) {
	var b bytes.Buffer
	err := scenario.Write(&b, ch.experiment)
	return b.String(), err
}

// choose reads the scenario named in the first argument of c, or the preset, and applies
// the flags.
func choose(c *cli.Context, preset string) (ch choice, err error) {
	known, err := knownTo(c)
	if err != nil {
		return ch, err
	}
	ch.command = []string{"bourse", "run"}
	if err := ch.load(c, preset, known); err != nil {
		return ch, err
	}
	ch.command = append(ch.command, typed(c, "until", "replications", "seed", "trace", "availability", "availability-format", "hosts", "load", "policy", "set")...)
	if c.Bool("ledger") {
		ch.command = append(ch.command, "--ledger")
	}
	return ch, nil
}

// knownTo returns the names that a scenario may use and the files named by flags.
func knownTo(c *cli.Context) (scenario.Known, error) {
	k := experiments.Known()
	if p := c.String("policy"); p != "" {
		k.Policies = strings.Split(p, ",")
	}
	k.Log, k.Trace, k.TraceFormat = c.String("trace"), c.String("availability"), c.String("availability-format")
	if f := k.TraceFormat; f != "" && !slices.Contains(scenario.Formats(), f) {
		return k, usagef("--availability-format: %s", scenario.Unknown(f, scenario.Formats()))
	}
	if k.TraceFormat != "" && k.Trace == "" {
		return k, usagef("--availability-format without --availability")
	}
	return k, nil
}

// overrides returns the overrides of the scenario that the flags set. The map typed contains
// each such flag other than --set, by its override.
func overrides(c *cli.Context) (sets []string, typed map[string]string, err error) {
	sets, typed = c.StringSlice("set"), make(map[string]string)
	add := func(flag, set string) {
		sets = append(sets, set)
		typed[scenario.SetName(set)] = "--" + flag + " " + c.String(flag)
	}
	if text := c.String("until"); text != "" {
		until, err := scenario.UntilSet(text)
		if err != nil {
			return nil, nil, usagef("--until: %w", err)
		}
		if add("until", until); c.String("replications") == "" {
			sets = append(sets, "replications=2000")
		}
	}
	whole := func(text string, least, most uint64) bool {
		n, err := strconv.ParseUint(text, 10, 64)
		return err == nil && n >= least && n <= most
	}
	positive := func(text string) bool {
		x, err := strconv.ParseFloat(text, 64)
		return err == nil && x > 0 && !math.IsInf(x, 1)
	}
	for _, f := range []struct {
		name, set string // set is the override, in which %s represents the flag's value
		ok        func(string) bool
		want      string
	}{
		{"replications", "replications=%s", func(s string) bool { return whole(s, 1, mostReplications) }, fmt.Sprintf("a whole number from 1 to %d", mostReplications)},
		{"seed", "seed=%s", func(s string) bool { return whole(s, 0, math.MaxUint64) }, "a whole number, at least 0 and less than 2^64"},
		{"hosts", "fleet.hosts=%s", func(s string) bool { return whole(s, 1, math.MaxUint64) }, "a whole number from 1"},
		{"load", "workload.annotate.load={target: %s}", positive, "a number above 0"},
	} {
		v := c.String(f.name)
		if v == "" {
			continue
		}
		if !f.ok(v) {
			return nil, nil, usagef("--%s: found %q, want %s", f.name, v, f.want)
		}
		add(f.name, fmt.Sprintf(f.set, v))
	}
	return sets, typed, nil
}

// load reads the scenario file named in the first argument of c, or the preset, and applies
// the flags to it.
func (ch *choice) load(c *cli.Context, preset string, known scenario.Known) (err error) {
	sets, typed, err := overrides(c)
	if err != nil {
		return err
	}
	defer func() {
		var wrong *config.Error
		if errors.As(err, &wrong) && typed[wrong.At.Source] != "" {
			wrong.At.Source = typed[wrong.At.Source]
		}
	}()
	file := c.Args().First()
	if file != "" && preset != "" {
		return usagef("found a file and --preset, want only one of them")
	}
	if file != "" {
		if ch.experiment, err = loadScenario(c, file, known, sets...); err != nil {
			return err
		}
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			ch.streamed = true
			ch.command = append(ch.command, "scenario.yaml") // the scenario was read from a stream, but the results contain its text
			return nil
		}
		ch.command = append(ch.command, file)
		ch.source.Path = file
		ch.source.SHA256, err = await(c.Context, func() (string, error) { return results.HashFile(file) })
		return err
	}
	if preset != "" {
		ch.command = append(ch.command, "--preset", preset)
	}
	preset = cmp.Or(preset, papers.Of("").Preset)
	data, ok := papers.Presets()[preset]
	if !ok {
		return usagef("--preset: %s", scenario.Unknown(preset, papers.Names()))
	}
	ch.experiment, err = scenario.Parse("preset "+preset, data, known, sets...)
	tellOverrides(c, &ch.experiment)
	return err
}
