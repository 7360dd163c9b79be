package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"bourse/experiments"
	"bourse/experiments/results"
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

// jobsName is the file in which the numbers of the jobs are that do a run's units.
const jobsName = "slurm.jobs"

// A slurmRun is a run whose units a cluster does.
type slurmRun struct {
	*cli.Context
	ready *experiments.Prepared
	opts  experiments.Options
	to    experiments.Publication
	dir   string // of its units
	chunk int
}

// onSlurm has a cluster do the units that are missing. It returns when all are there, or
// once they are submitted if no-wait or dry-run is asked for: then done is false.
func onSlurm(c *cli.Context, ready *experiments.Prepared, opts experiments.Options, to experiments.Publication) (done bool, err error) {
	if engine := c.String("on"); engine != "slurm" {
		return false, usagef("--on: found %q, want slurm", engine)
	}
	r := &slurmRun{c, ready, opts, to, "", c.Int("chunk")}
	if c.IsSet("chunk") && r.chunk < 1 {
		return false, usagef("--chunk: found %d, want at least 1", r.chunk)
	}
	if r.dir, err = results.Unfinished(to.Dir); err != nil {
		return false, err
	}
	if c.Bool("dry-run") {
		r.chunk = max(1, r.chunk)
		job, err := r.job(r.units())
		if err == nil {
			_, err = fmt.Fprint(c.App.Writer, job.Script())
		}
		return false, err
	}
	if err := r.begin(); err != nil {
		return false, err
	}
	ids, err := r.submitted()
	if err != nil {
		return false, err
	}
	for {
		if len(ids) > 0 {
			if c.Bool("no-wait") {
				note(c, "jobs %s do the units: the same command without --no-wait waits and merges", strings.Join(ids, " "))
				return false, nil
			}
			if err := r.wait(ids); err != nil {
				return false, err
			}
		}
		before, err := r.missing()
		if err != nil || len(before) == 0 {
			return err == nil, err
		}
		if len(ids) > 0 {
			note(c, "%s of %d are missing, and submitted again", count(len(before), "unit"), len(r.units()))
		}
		if ids, err = r.submit(before); err != nil {
			return false, err
		}
		if c.Bool("no-wait") {
			continue
		}
		if err := r.wait(ids); err != nil {
			return false, err
		}
		ids = nil
		after, err := r.missing()
		if err != nil {
			return false, err
		}
		if len(after) == len(before) {
			return false, incomplete{fmt.Errorf("%s of %d are missing, first %s: its tasks have failed; what they said is in %s",
				count(len(after), "unit"), len(r.units()), after[0], filepath.Join(r.dir, "slurm-*.txt"))}
		}
	}
}

// units returns the names of all units.
func (r *slurmRun) units() (names []string) {
	for _, u := range r.ready.Units() {
		names = append(names, u.Name())
	}
	return names
}

// begin writes the plan, and the scenario as run for the tasks, and does one unit to see
// how long it takes.
func (r *slurmRun) begin() error {
	first, err := r.missing()
	if err != nil {
		return err
	}
	one := r.to
	one.Dir, one.Of, one.Shard = r.dir, len(r.units()), 0
	if len(first) > 0 {
		one.Shard = slices.Index(r.units(), first[0])
	}
	elapsed := stopwatch()
	if err := r.ready.Shard(r.Context.Context, experiments.Options{Workers: 1}, one); err != nil {
		return err
	}
	if r.chunk == 0 {
		const least = 60 // s that a task takes
		r.chunk = max(1, int(least/max(elapsed(), 0.001))*r.opts.Workers)
	}
	return os.WriteFile(r.scenario(), []byte(r.to.Scenario), 0o644)
}

func (r *slurmRun) scenario() string { return filepath.Join(r.dir, "scenario.yaml") }

// missing returns the units that are not there, in order.
func (r *slurmRun) missing() ([]string, error) {
	u, err := results.ReadUnits(r.dir)
	if errors.Is(err, results.ErrNotResults) {
		return r.units(), nil
	}
	if err != nil {
		return nil, err
	}
	names, err := u.Names()
	return slices.DeleteFunc(r.units(), func(name string) bool { return slices.Contains(names, name) }), err
}

// job returns the array that does those units.
func (r *slurmRun) job(missing []string) (*slurm.Job, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	units := r.units()
	shards := (len(units) + r.chunk - 1) / r.chunk
	job := &slurm.Job{
		Name: r.ready.Experiment.Name, Of: shards, Dir: here, Log: r.dir,
		Words: []string{
			program, "run", r.scenario(), "--out", r.dir, "--tables", r.to.Tables.String(),
			"--workers", strconv.Itoa(r.opts.Workers), "--no-progress", "--ledger=" + strconv.FormatBool(r.to.Ledgers),
		},
		Limits: slurm.Limits{
			Partition: r.String("partition"), Time: r.String("time"), Memory: r.String("memory"), Account: r.String("account"), CPUs: r.opts.Workers,
		},
	}
	for i, name := range units {
		if k := i%shards + 1; slices.Contains(missing, name) && !slices.Contains(job.Shards, k) {
			job.Shards = append(job.Shards, k)
		}
	}
	slices.Sort(job.Shards)
	if err := job.Check(); err != nil {
		return nil, usagef("%w", err)
	}
	return job, nil
}

// submit has those units done.
func (r *slurmRun) submit(missing []string) (ids []string, err error) {
	job, err := r.job(missing)
	if err != nil {
		return nil, err
	}
	most, err := slurm.MaxArray(r.Context.Context)
	if err != nil {
		return nil, err
	}
	for _, part := range job.Split(most) {
		id, err := part.Submit(r.Context.Context)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
		if err := os.WriteFile(filepath.Join(r.dir, jobsName), []byte(strings.Join(ids, "\n")+"\n"), 0o644); err != nil {
			return nil, err
		}
	}
	note(r.Context, "submitted %s as job %s", count(len(job.Shards), "task"), strings.Join(ids, ", "))
	return ids, nil
}

// submitted returns the jobs of an earlier call that are still in the queue.
func (r *slurmRun) submitted() ([]string, error) {
	text, err := os.ReadFile(filepath.Join(r.dir, jobsName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ids := strings.Fields(string(text))
	n, err := slurm.Queued(r.Context.Context, ids)
	if err != nil || n == 0 {
		return nil, err
	}
	return ids, nil
}

// wait returns when no task of the jobs is in the queue, and their files can be seen.
func (r *slurmRun) wait(ids []string) error {
	ctx, total := r.Context.Context, len(r.units())
	pause, settled := time.Second, 0
	for {
		missing, err := r.missing()
		if err != nil {
			return err
		}
		if r.opts.Progress != nil {
			r.opts.Progress(total-len(missing), total)
		}
		n, err := slurm.Queued(ctx, ids)
		if err != nil && ctx.Err() == nil {
			note(r.Context, "%v; asking again", err) // a controller that is away for a while
			n, settled = 1, 0
		}
		if n == 0 { // a shared file system may show files late
			if settled++; len(missing) == 0 || settled > 3 {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return interruption(fmt.Sprintf("job %s goes on: the same command waits for it, scancel ends it", strings.Join(ids, " ")))
		case <-time.After(pause):
			pause = min(pause*5/4, 10*time.Second)
		}
	}
}
