//go:build linux

package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A command runs a program of Slurm and returns its output.
type command func(ctx context.Context, input, name string, args ...string) (string, error)

// patience is the timeout of a program of Slurm, in seconds.
const patience = 20

// execute runs a program of Slurm. The variables of this process that change the options of
// these programs, such as SBATCH_EXCLUSIVE, are not passed on.
func execute(ctx context.Context, input, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	for _, v := range []string{"PATH", "HOME", "USER", "LOGNAME", "SLURM_CONF"} {
		if value, ok := os.LookupEnv(v); ok {
			cmd.Env = append(cmd.Env, v+"="+value)
		}
	}
	var out, wrong bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &wrong
	if err := cmd.Run(); err != nil {
		text := strings.TrimSpace(wrong.String())
		return "", fmt.Errorf("%s: %w", name, errors.Join(err, errors.New(text[:min(len(text), 300)])))
	}
	return out.String(), nil
}

// A node is a node of a partition, as sinfo reports it.
type node struct {
	name    string
	cores   int // number of whole cores
	threads int // threads per core
	memory  int // MiB
	gpus    int
	state   string
}

// nodeFields is the output format of sinfo that [parseNode] reads.
const nodeFields = "%N|%c|%Z|%m|%G|%T"

func parseNode(line string) (n node, err error) {
	f := strings.Split(line, "|")
	if len(f) != 6 {
		return n, fmt.Errorf("sinfo: found %q, want %s", line, nodeFields)
	}
	n.name, n.gpus, n.state = f[0], gpus(f[4]), f[5]
	cpus, err := strconv.Atoi(f[1])
	threads, wrong := strconv.Atoi(f[2])
	memory, wrong2 := strconv.Atoi(f[3])
	n.threads, n.memory = max(1, threads), memory
	n.cores = cpus / n.threads
	if err = errors.Join(err, wrong, wrong2); err != nil {
		err = fmt.Errorf("sinfo: %q: %w", line, err)
	}
	return n, err
}

// gpus returns the number of GPUs in a list of generic resources, such as
// gpu:a100:4(S:0-1),shard:8.
func gpus(list string) (sum int) {
	for f := range strings.SplitSeq(list, ",") {
		f, _, _ = strings.Cut(f, "(")
		if f == "gpu" {
			sum++
		} else if strings.HasPrefix(f, "gpu:") {
			n, _ := strconv.Atoi(f[strings.LastIndexByte(f, ':')+1:])
			sum += n
		}
	}
	return sum
}

// usable reports whether the node starts jobs. A state may end with a mark. The mark * means
// that the node does not respond; Slurm starts jobs on nodes with other marks.
func (n *node) usable() bool {
	switch strings.TrimRight(n.state, "~#!%$@^-+") {
	case "idle", "mixed", "allocated", "completing":
		return true
	}
	return false
}

// nodes returns the nodes of a partition, sorted by name.
func nodes(ctx context.Context, run command, partition string) (all []node, err error) {
	out, err := run(ctx, "", "sinfo", "-h", "-N", "-p", partition, "-o", nodeFields)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		n, err := parseNode(strings.TrimSpace(line))
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("sinfo: found no nodes in partition %s", partition)
	}
	return all, nil
}

// A queued job is a line of squeue.
type queued struct {
	id, name, state string
	node            string // node on which the job runs, or for which it was requested
}

// queue returns the jobs of a partition whose names have the given prefix. The prefix is removed.
func queue(ctx context.Context, run command, partition, prefix string) (all []queued, err error) {
	out, err := run(ctx, "", "squeue", "-h", "-p", partition, "-o", "%i|%j|%T|%N|%n")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 5 {
			return nil, fmt.Errorf("squeue: found %q, want ID|NAME|STATE|NODE|NODE", line)
		}
		if name, ours := strings.CutPrefix(f[1], prefix); ours {
			if f[3] == "" {
				f[3] = f[4]
			}
			all = append(all, queued{id: f[0], name: name, state: f[2], node: f[3]})
		}
	}
	return all, nil
}

// A job is a task that Slurm should run.
type job struct {
	folder string
	name   string // name of the task
	cores  int
	memory int // MiB
	gpus   int
	until  float64 // 0 means no deadline
}

// spare is the number of minutes by which the time limit of a job exceeds the time left. The
// supervisor ends the task before Slurm does.
const spare = 2

// submit submits a job for a node. The program must have the same path on the node.
func submit(ctx context.Context, run command, j *job, n *node, partition, prefix, program string, now float64) error {
	args := []string{
		"--parsable", "--no-requeue", "-p", partition, "-J", prefix + j.name, "--nodelist", n.name, "-N", "1", "-n", "1",
		"-c", strconv.Itoa(j.cores * n.threads), "--mem", strconv.Itoa(j.memory) + "M", "-o", os.DevNull, "-D", "/",
	}
	if j.gpus > 0 {
		args = append(args, "--gres", "gpu:"+strconv.Itoa(j.gpus))
	}
	if j.until > 0 {
		args = append(args, "-t", strconv.Itoa(int(max(0, j.until-now)+59)/60+spare))
	}
	_, err := run(ctx, script(program, j.folder), "sbatch", args...)
	return err
}

// script returns the batch script of a job. The script becomes the supervisor of the task in
// the folder.
func script(program, folder string) string {
	return fmt.Sprintf("#!/bin/sh\nexec %s bourse-minder --spool %s\n", quoted(program), quoted(filepath.Clean(folder)))
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// cancel cancels jobs.
func cancel(ctx context.Context, run command, ids []string) error {
	_, err := run(ctx, "", "scancel", ids...)
	return err
}
