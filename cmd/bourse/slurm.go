package main

import (
	"errors"
	"io"

	"bourse/experiments"
	"bourse/experiments/cluster"
	"bourse/experiments/publication"
	"bourse/experiments/slurm"

	"github.com/urfave/cli/v2"
)

// A slurmOptions contains the flags of runs on a cluster.
type slurmOptions struct {
	On        string `doc:"run the units on {ENGINE}: slurm, which must share the directory of --out"`
	Chunk     int    `validate:"min=1" doc:"with --on slurm, run {N} units per task (default: one minute of work, as measured by one unit)"`
	Partition string `doc:"with --on slurm, use {PARTITION} of the cluster"`
	Time      string `doc:"with --on slurm, limit each task to {TIME}, such as 90, 1:30:00 or 1-0"`
	Memory    string `doc:"with --on slurm, request {MEMORY} per task, such as 4G"`
	Account   string `doc:"with --on slurm, charge {ACCOUNT}"`
	NoWait    bool   `yaml:"no-wait" doc:"with --on slurm, submit and return; repeat the command to wait and merge"`
	DryRun    bool   `yaml:"dry-run" doc:"with --on slurm, time one unit and print only the script"`
}

// check returns an error if flags of a cluster were given for a run that is not on one.
func (o *slurmOptions) check(c *cli.Context) error {
	for _, flag := range []string{"chunk", "partition", "time", "memory", "account", "no-wait", "dry-run"} {
		if c.IsSet(flag) && !c.IsSet("on") {
			return usagef("--%s: found it without --on, want --on slurm", flag)
		}
	}
	return nil
}

// onSlurm runs the missing units on a cluster and reports whether all units are complete.
// With no-wait or dry-run, they are not.
func onSlurm(c *cli.Context, ready *experiments.Prepared, opts experiments.Options, to publication.Target) (done bool, err error) {
	if engine := c.String("on"); engine != "slurm" {
		return false, usagef("--on: found %q, want slurm", engine)
	}
	if n := c.Int("chunk"); c.IsSet("chunk") && n < 1 {
		return false, usagef("--chunk: found %d, want at least 1", n)
	}
	run := &cluster.Run{
		Ready: ready, Options: opts, To: to, Chunk: c.Int("chunk"), NoWait: c.Bool("no-wait"),
		Limits: slurm.Limits{Partition: c.String("partition"), Time: c.String("time"), Memory: c.String("memory"), Account: c.String("account")},
		Say:    func(format string, args ...any) { note(c, format, args...) },
	}
	if c.Bool("dry-run") {
		script, err := run.Script(c.Context)
		if err == nil {
			_, err = io.WriteString(c.App.Writer, script)
		}
		return false, err
	}
	done, err = run.Do(c.Context)
	var goesOn *cluster.GoesOnError
	var holes *publication.HolesError
	switch {
	case errors.As(err, &goesOn):
		return false, interruption(goesOn.Error())
	case errors.As(err, &holes):
		return false, incomplete{err}
	}
	return done, err
}
