// Package cluster runs the units of a run on a cluster. It measures how long a unit takes,
// submits tasks of a suitable length, waits for them, and submits failed tasks again.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"bourse/bank/whole"
	"bourse/experiments"
	"bourse/experiments/misuse"
	"bourse/experiments/publication"
	"bourse/experiments/results"
	"bourse/experiments/slurm"
)

// A Run is a run whose units are executed by a cluster. The cluster must share the file
// system of the results with this machine.
type Run struct {
	Ready   *experiments.Prepared
	Options experiments.Options
	To      publication.Target
	Chunk   int // number of units per task; 0 means as many as run in a minute
	Limits  slurm.Limits
	NoWait  bool
	Say     func(format string, args ...any) // receives progress messages; may be nil

	dir string // folder of the units
}

// jobsName is the name of the file that lists the cluster's job numbers.
const jobsName = "slurm.jobs"

// A GoesOnError means that the waiting was interrupted. It lists the jobs that are still
// running.
type GoesOnError struct {
	Jobs []string
	why  error
}

// Error names the jobs and the user's next steps.
func (e *GoesOnError) Error() string {
	return fmt.Sprintf("job %s continues; repeat the command to wait for it, or end it with scancel", strings.Join(e.Jobs, " "))
}

// Unwrap returns the reason for the interruption.
func (e *GoesOnError) Unwrap() error { return e.why }

// Script returns the script that would be submitted for one array of jobs. If Chunk does
// not state the number of units per task, Script first runs one unit in a temporary
// directory to measure its time.
func (r *Run) Script(ctx context.Context) (string, error) {
	if err := r.place(); err != nil {
		return "", err
	}
	if r.Chunk == 0 {
		dir, err := os.MkdirTemp("", "bourse-unit")
		if err != nil {
			return "", err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		if err := r.measure(ctx, dir, 0); err != nil {
			return "", err
		}
	}
	job, err := r.job(r.units())
	if err != nil {
		return "", err
	}
	return job.Script(), nil
}

// Do runs the missing units and reports whether all units are complete. With NoWait, it
// returns after submitting them. The error is an [*experiments.HolesError] if tasks failed
// repeatedly.
func (r *Run) Do(ctx context.Context) (done bool, err error) {
	if err := r.place(); err != nil {
		return false, err
	}
	if err := r.begin(ctx); err != nil {
		return false, err
	}
	ids, err := r.submitted(ctx)
	if err != nil {
		return false, err
	}
	for last := -1; ; {
		if len(ids) > 0 && r.NoWait {
			r.say("job %s runs the units; repeat the command without --no-wait to wait for them and merge the results", strings.Join(ids, ", "))
			return false, nil
		}
		if len(ids) > 0 {
			if err := r.wait(ctx, ids); err != nil {
				return false, err
			}
		}
		missing, err := r.missing()
		if err != nil || len(missing) == 0 {
			return err == nil, err
		}
		if len(missing) == last {
			return false, fmt.Errorf("%w: the tasks of these units failed; the output of these tasks is in %s",
				&publication.HolesError{Missing: missing, Of: len(r.units())}, filepath.Join(r.dir, "slurm-*.txt"))
		}
		if last >= 0 {
			r.say("%d of %d units were missing and have been submitted again", len(missing), len(r.units()))
		}
		last = len(missing)
		if ids, err = r.submit(ctx, missing); err != nil {
			return false, err
		}
	}
}

func (r *Run) place() (err error) {
	r.dir, err = results.Unfinished(r.To.Dir)
	return err
}

func (r *Run) say(format string, args ...any) {
	if r.Say != nil {
		r.Say(format, args...)
	}
}

// units returns the names of all units.
func (r *Run) units() (names []string) {
	for _, u := range r.Ready.Units() {
		names = append(names, u.Name())
	}
	return names
}

// begin writes the plan and the scenario for the tasks. It also runs one unit to measure
// its time.
func (r *Run) begin(ctx context.Context) error {
	first, err := r.missing()
	if err != nil {
		return err
	}
	unit := 0
	if len(first) > 0 {
		unit = slices.Index(r.units(), first[0])
	}
	if err := r.measure(ctx, r.dir, unit); err != nil {
		return err
	}
	return os.WriteFile(r.scenario(), []byte(r.To.Scenario), 0o644)
}

// measure runs the unit with the given index and writes its results to dir. If Chunk is 0,
// measure sets it to the number of units that a task can run in a minute. It measures processor
// time, because this machine may be busy.
func (r *Run) measure(ctx context.Context, dir string, unit int) error {
	one := r.To
	one.Dir, one.Of, one.Shard = dir, len(r.units()), unit
	began := ProcessorTime()
	if err := publication.Shard(ctx, r.Ready, experiments.Options{Workers: 1}, one); err != nil {
		return err
	}
	if r.Chunk == 0 {
		const least = 60 // minimum duration of a task in seconds
		r.Chunk = max(1, int(least/max((ProcessorTime()-began).Seconds(), 0.001))*r.Options.Workers)
	}
	return nil
}

func (r *Run) scenario() string { return filepath.Join(r.dir, "scenario.yaml") }

// missing returns the missing units, in order.
func (r *Run) missing() ([]string, error) {
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

// job returns the array of jobs that runs the given units.
func (r *Run) job(missing []string) (*slurm.Job, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	units := r.units()
	shards := (len(units) + r.Chunk - 1) / r.Chunk
	r.Limits.CPUs = r.Options.Workers
	job := &slurm.Job{
		Name: r.Ready.Experiment.Name, Of: shards, Dir: here, Log: r.dir,
		Words: []string{
			program, "run", r.scenario(), "--out", r.dir, "--tables", r.To.Tables.String(),
			"--workers", strconv.Itoa(r.Options.Workers), "--no-progress", "--ledger=" + strconv.FormatBool(r.To.Ledgers),
		},
		Limits: r.Limits,
	}
	for i, name := range units {
		if k := i%shards + 1; slices.Contains(missing, name) && !slices.Contains(job.Shards, k) {
			job.Shards = append(job.Shards, k)
		}
	}
	slices.Sort(job.Shards)
	if err := job.Check(); err != nil {
		return nil, misuse.Errorf("%w", err)
	}
	return job, nil
}

// submit submits jobs for the given units.
func (r *Run) submit(ctx context.Context, missing []string) (ids []string, err error) {
	job, err := r.job(missing)
	if err != nil {
		return nil, err
	}
	most, err := slurm.MaxArray(ctx)
	if err != nil {
		return nil, err
	}
	for _, part := range job.Split(most) {
		id, err := part.Submit(ctx)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
		if err := os.WriteFile(filepath.Join(r.dir, jobsName), []byte(strings.Join(ids, "\n")+"\n"), 0o644); err != nil {
			return nil, err
		}
	}
	r.say("submitted %d tasks as job %s", len(job.Shards), strings.Join(ids, ", "))
	return ids, nil
}

// submitted returns the jobs from an earlier call that are still in the queue.
func (r *Run) submitted(ctx context.Context) ([]string, error) {
	text, err := whole.Read(filepath.Join(r.dir, jobsName), 1<<20)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ids := strings.Fields(string(text))
	n, err := slurm.Queued(ctx, ids)
	if err != nil || n == 0 {
		return nil, err
	}
	return ids, nil
}

// wait waits until no task of the jobs is in the queue and the files of the tasks are visible.
func (r *Run) wait(ctx context.Context, ids []string) error {
	total := len(r.units())
	pause, settled := time.Second, 0
	for {
		missing, err := r.missing()
		if err != nil {
			return err
		}
		if r.Options.Progress != nil {
			r.Options.Progress(total-len(missing), total)
		}
		n, err := slurm.Queued(ctx, ids)
		if err != nil && ctx.Err() == nil {
			r.say("%v; asking again", err) // tolerate that the controller is unavailable for a short time
			n, settled = 1, 0
		}
		if n == 0 { // files may appear with a delay on a shared file system
			if settled++; len(missing) == 0 || settled > 3 {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return &GoesOnError{ids, ctx.Err()}
		case <-time.After(pause):
			pause = min(pause*5/4, 10*time.Second)
		}
	}
}
