package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"bourse/bank"
	"bourse/bank/whole"
	"bourse/contracts/order"
	"bourse/experiments/live/client"
	"bourse/hosts/remote"
	"bourse/workloadgen/config"
	"bourse/workloadgen/plugin"

	"github.com/urfave/cli/v2"
)

// An asked is one requested contract, specified by flags or in a file with several requests.
type asked struct {
	Class      string            `yaml:"class"`
	Work       float64           `yaml:"work" validate:"gt=0" doc:"work per node, in seconds of one processor, or with a unit such as 2h"`
	Deadline   float64           `yaml:"deadline" validate:"gt=0" doc:"deadline in seconds, or with a unit such as 2h"`
	Budget     string            `yaml:"budget"`
	Nodes      int               `yaml:"nodes" validate:"min=1"`
	CPUs       float64           `yaml:"cpus" validate:"gt=0" doc:"maximum number of processors per node"`
	Command    []string          `yaml:"command"`
	Env        map[string]string `yaml:"env"`
	Files      []string          `yaml:"files"`
	Memory     float64           `yaml:"memory" validate:"min=0" doc:"bytes of memory that each node holds, or a size with a unit such as 4GB"`
	Disk       float64           `yaml:"disk" validate:"min=0" doc:"bytes of disk that each node holds, or a size with a unit such as 4GB"`
	Bandwidth  float64           `yaml:"bandwidth" validate:"min=0" doc:"bytes per second that each node holds, or a size with a unit such as 4MB"`
	GPUs       int               `yaml:"gpus" validate:"min=0" doc:"number of GPUs that each node holds"`
	Count      map[string]int32  `yaml:"count" doc:"number of units of each countable resource that each node holds, by name"`
	Licences   map[string]int32  `yaml:"licences" doc:"number of units of each of the market's licences that the contract holds, by name"`
	Name       string            `yaml:"name" doc:"name of the contract in the output for its user"`
	Chdir      string            `yaml:"chdir" doc:"directory on the host in which the program starts"`
	Stdin      string            `yaml:"stdin" doc:"file that the program reads as standard input"`
	Array      string            `yaml:"-"`
	Warn       float64           `yaml:"warn" validate:"min=0" doc:"time before the deadline at which the program is notified, in seconds or with a unit such as 5m"`
	Checkpoint float64           `yaml:"checkpoint" validate:"min=0" doc:"time between two checkpoints that the market stores, in seconds or with a unit such as 10m"`
	Project    string            `yaml:"project" doc:"project that pays from its account project:PROJECT"`
	Requeue    int               `yaml:"requeue" validate:"min=0" doc:"maximum number of restarts after exit status 75"`

	After       []int64 `yaml:"after" doc:"contracts that must be fulfilled first"`
	AfterEnded  []int64 `yaml:"after_ended" doc:"contracts that must end first"`
	AfterFailed []int64 `yaml:"after_failed" doc:"contracts that must first end unfulfilled"`

	array order.Array
	in    []byte            // standard input
	sent  map[string][]byte // files to send, by name; each is read only once for all contracts of an array
}

// input returns the content of the file for standard input, if there is one.
func (a *asked) input(c *cli.Context) ([]byte, error) {
	switch a.Stdin {
	case "":
		return nil, nil
	case "-":
		return whole.ReadAll(c.App.Reader, mostFile)
	}
	text, err := whole.Read(a.Stdin, mostFile)
	if err != nil {
		return nil, usagef("stdin: %w, want a file", err)
	}
	return text, nil
}

// SetDefaults sets the default values of fields that the file may omit.
func (a *asked) SetDefaults() { a.Nodes, a.CPUs = 1, 1 }

// inside is a shell command that starts a program of the task's folder in another directory.
const inside = `at=$PWD; cd -- "$1" && shift && case $1 in /*) exec "$@";; */*) exec "$at/$@";; *) exec "$@";; esac`

// task returns a in the form that is sent to the market. An error states which field is
// invalid.
func (a *asked) task() (*client.Task, *config.Error) {
	terms, wrong := a.terms()
	if wrong != nil {
		return nil, wrong
	}
	if len(a.Command) == 0 {
		return nil, &config.Error{Field: "command", Problem: "found no command, want a command to run; write -- before a command with flags"}
	}
	t := &client.Task{Terms: *terms, Job: remote.Job{Name: a.Name, Command: a.Command, Limits: remote.Limits{Memory: int64(a.Memory), Disk: int64(a.Disk)}}}
	if a.Chdir != "" {
		t.Job.Command = append([]string{"sh", "-c", inside, "sh", a.Chdir}, a.Command...)
	}
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		t.Job.Env = append(t.Job.Env, name+"="+a.Env[name])
	}
	switch a.Stdin {
	case "":
	case "-":
		t.Job.Stdin = "stdin"
	default:
		t.Job.Stdin = filepath.Base(a.Stdin)
	}
	if a.sent == nil {
		if wrong := a.read(t.Job.Stdin); wrong != nil {
			return nil, wrong
		}
	}
	t.Files = a.sent
	return t, nil
}

// read reads the files to send, and adds the standard input under the given name.
func (a *asked) read(stdin string) *config.Error {
	sent := make(map[string][]byte, len(a.Files))
	for i, path := range a.Files {
		name, read := baseName(path), func() ([]byte, error) { return whole.Read(path, mostFile) }
		if strings.HasSuffix(name, "/") {
			read = func() ([]byte, error) { return tree(path) }
		}
		data, err := read()
		if err != nil {
			return &config.Error{Field: fmt.Sprintf("files.%d", i), Problem: err.Error() + ", want a file or a folder"}
		}
		if _, twice := sent[name]; twice {
			return &config.Error{Field: fmt.Sprintf("files.%d", i), Problem: fmt.Sprintf("found a second %s, want unique names", name)}
		}
		sent[name] = data
	}
	if stdin != "" {
		if same, twice := sent[stdin]; twice && !bytes.Equal(same, a.in) {
			return &config.Error{Field: "stdin", Problem: fmt.Sprintf("found a second %s, want unique names", stdin)}
		}
		sent[stdin] = a.in
	}
	a.sent = sent
	return nil
}

// terms returns the terms of a. An error states which field is invalid.
func (a *asked) terms() (*order.Terms, *config.Error) {
	var wrong *config.Error
	if errors.As(config.Check(a), &wrong) {
		return nil, wrong
	}
	budget, err := bank.Parse(a.Budget)
	if err != nil {
		return nil, &config.Error{Field: "budget", Problem: fmt.Sprintf("found %q, want dollars with at most 6 decimals, such as 0.50", plugin.Clip(a.Budget))}
	}
	counts := maps.Clone(a.Count)
	if a.GPUs > 0 {
		if counts == nil {
			counts = make(map[string]int32)
		}
		counts["gpu"] = int32(a.GPUs)
	}
	return &order.Terms{
		Memory: int64(a.Memory), Disk: int64(a.Disk), Bandwidth: int64(a.Bandwidth), Counts: counts, Licences: a.Licences,
		Class: a.Class, Nodes: a.Nodes, CPUs: a.CPUs, Work: a.Work, Deadline: a.Deadline, Budget: budget,
		Warn: a.Warn, Checkpoint: a.Checkpoint, Requeue: a.Requeue, Project: a.Project, Array: a.array, After: [3][]int64{order.Fulfilled: a.After, order.Ended: a.AfterEnded, order.Failed: a.AfterFailed},
	}, nil
}
