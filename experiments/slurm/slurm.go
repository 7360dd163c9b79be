// Package slurm runs the shards of a run as the tasks of a Slurm job array. It writes the
// script, submits it, and reports which tasks are still in the queue. Slurm handles
// queueing, limits and restarts.
package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// A Job is an array of tasks, each of which runs one shard.
type Job struct {
	Name   string
	Shards []int    // numbers of the shards to run, counted from 1, in order
	Of     int      // total number of shards
	Dir    string   // working directory of the tasks
	Log    string   // directory of the output of tasks
	Words  []string // command of a task, to which --shard is added
	Limits Limits

	offset int // difference between shard numbers and task numbers
}

// Limits are the site's limits for a task. If a field is empty, the site's default applies.
type Limits struct {
	Partition, Time, Memory, Account string
	CPUs                             int
}

// Script returns the batch script of j.
func (j *Job) Script() string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n")
	option := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "#SBATCH --%s=%s\n", name, value)
		}
	}
	option("job-name", "bourse-"+j.Name)
	option("array", j.numbers())
	option("chdir", j.Dir)
	option("output", j.Log+"/slurm-%A_%a.txt")
	option("open-mode", "append") // keep the output of earlier attempts if a task is started again
	option("partition", j.Limits.Partition)
	option("time", j.Limits.Time)
	option("mem", j.Limits.Memory)
	option("account", j.Limits.Account)
	option("cpus-per-task", strconv.Itoa(max(1, j.Limits.CPUs)))
	b.WriteString("\nexec")
	for _, w := range j.Words {
		b.WriteString(" " + quote(w))
	}
	shard := "$SLURM_ARRAY_TASK_ID"
	if j.offset > 0 {
		shard = fmt.Sprintf("$((SLURM_ARRAY_TASK_ID + %d))", j.offset)
	}
	fmt.Fprintf(&b, " --shard \"%s/%d\"\n", shard, j.Of)
	return b.String()
}

// numbers formats the task numbers of j for sbatch, for example 1-3,7.
func (j *Job) numbers() string {
	var spans []string
	for i := 0; i < len(j.Shards); {
		k := i + 1
		for k < len(j.Shards) && j.Shards[k] == j.Shards[k-1]+1 {
			k++
		}
		span := strconv.Itoa(j.Shards[i] - j.offset)
		if k-i > 1 {
			span += "-" + strconv.Itoa(j.Shards[k-1]-j.offset)
		}
		spans = append(spans, span)
		i = k
	}
	return strings.Join(spans, ",")
}

// quote quotes a word for a POSIX shell.
func quote(w string) string { return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'" }

// Check returns an error if j contains text that must not be in the script. For example,
// sbatch reads the text after a space as another option.
func (j *Job) Check() error {
	l := &j.Limits
	for name, value := range map[string]string{
		"directory": j.Dir, "results directory": j.Log, "--partition": l.Partition, "--time": l.Time, "--memory": l.Memory, "--account": l.Account,
	} {
		if strings.ContainsAny(value, " \t\n\"'\\%") {
			return fmt.Errorf("%s: found %q, want a word without blanks, quotes or %% for an sbatch script", name, value)
		}
	}
	return nil
}

// Split divides j into arrays whose task numbers are all below most, the value of Slurm's
// MaxArraySize.
func (j Job) Split(most int) []Job {
	var all []Job
	for rest := j.Shards; len(rest) > 0; {
		part := j
		part.offset = (rest[0] - 1) / (most - 1) * (most - 1)
		n := 0
		for n < len(rest) && rest[n]-part.offset < most {
			n++
		}
		part.Shards, rest = rest[:n], rest[n:]
		all = append(all, part)
	}
	return all
}

// Submit submits j and returns the job number.
func (j *Job) Submit(ctx context.Context) (id string, err error) {
	cmd := exec.CommandContext(ctx, "sbatch", "--parsable", "--requeue")
	cmd.Stdin = strings.NewReader(j.Script())
	out, err := output(cmd)
	if err != nil {
		return "", err
	}
	id, _, _ = strings.Cut(strings.TrimSpace(out), ";") // the output may also contain the name of the cluster
	if _, err := strconv.Atoi(id); err != nil {
		return "", fmt.Errorf("sbatch: found %q, want a job number", out)
	}
	return id, nil
}

// Queued returns how many tasks of the jobs are pending or running.
func Queued(ctx context.Context, ids []string) (int, error) {
	out, err := output(exec.CommandContext(ctx, "squeue", "--noheader", "--array", "--format=%i", "--jobs="+strings.Join(ids, ",")))
	if err != nil && strings.Contains(err.Error(), "Invalid job id") {
		return 0, nil // Slurm no longer knows these jobs
	}
	return len(strings.Fields(out)), err
}

var maxArray = regexp.MustCompile(`(?m)^MaxArraySize\s*=\s*([0-9]+)`)

// MaxArray returns Slurm's MaxArraySize. All task numbers of an array must be below this value.
func MaxArray(ctx context.Context) (int, error) {
	out, err := output(exec.CommandContext(ctx, "scontrol", "show", "config"))
	if err != nil {
		return 0, err
	}
	m := maxArray.FindStringSubmatch(out)
	if m == nil {
		return 0, errors.New("scontrol show config: found no MaxArraySize")
	}
	return strconv.Atoi(m[1])
}

// output runs cmd and returns its output. The error contains the error output of the command.
func output(cmd *exec.Cmd) (string, error) {
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", cmd.Args[0], err, strings.TrimSpace(errs.String()))
	}
	return out.String(), nil
}
