package main

import (
	"errors"
	"io"

	"bourse/experiments"
	"bourse/experiments/cluster"
	"bourse/experiments/slurm"

	"github.com/urfave/cli/v2"
)

// slurmFlags say how a run is done by a cluster.
func slurmFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "on", Usage: "have the units done by `ENGINE`: slurm submits an array of tasks with sbatch, waits and merges; the directory of --out must be on a file system that all nodes share"},
		&cli.IntFlag{Name: "chunk", Usage: "with --on slurm: let a task do `N` units (default: as many as take a minute, by the time of one that is done here first)"},
		&cli.StringFlag{Name: "partition", Usage: "with --on slurm: of the cluster"},
		&cli.StringFlag{Name: "time", Usage: "with --on slurm: most that a task may take, as sbatch has it: MINUTES, H:MM:SS or D-H"},
		&cli.StringFlag{Name: "memory", Usage: "with --on slurm: of a task, e.g. 4G"},
		&cli.StringFlag{Name: "account", Usage: "with --on slurm: who is charged"},
		&cli.BoolFlag{Name: "no-wait", Usage: "with --on slurm: submit and return; the same command later waits and merges"},
		&cli.BoolFlag{Name: "dry-run", Usage: "with --on slurm: print the script in place of submitting it"},
	}
}

// onSlurm has a cluster do the units that are missing, and reports whether all are there:
// not if no-wait or dry-run is asked for.
func onSlurm(c *cli.Context, ready *experiments.Prepared, opts experiments.Options, to experiments.Publication) (done bool, err error) {
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
		script, err := run.Script()
		if err == nil {
			_, err = io.WriteString(c.App.Writer, script)
		}
		return false, err
	}
	done, err = run.Do(c.Context)
	var goesOn *cluster.GoesOnError
	var holes *experiments.HolesError
	switch {
	case errors.As(err, &goesOn):
		return false, interruption(goesOn.Error())
	case errors.As(err, &holes):
		return false, incomplete{err}
	}
	return done, err
}
