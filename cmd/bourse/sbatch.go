package main

import (
	"bytes"
	"path/filepath"
	"strings"

	"bourse/bank/whole"
	"bourse/experiments/live/batch"

	"github.com/urfave/cli/v2"
)

// fromScript returns the contract that a job script describes.
func fromScript(c *cli.Context, file string) (a asked, err error) {
	text, err := whole.Read(file, mostFile)
	if err != nil {
		return a, usagef("--sbatch: %w, want a file", err)
	}
	if !bytes.HasPrefix(text, []byte("#!")) {
		return a, usagef("--sbatch: %s: found no interpreter in line 1, want one, such as #!/bin/sh", file)
	}
	s, err := batch.Script(string(text))
	if err != nil {
		return a, usagef("--sbatch: %s: %w", file, err)
	}
	for _, name := range s.Ignored {
		note(c, "%s: %s has no effect on a market", file, name)
	}
	a = asked{
		Class: s.Class, Work: s.Work, Deadline: s.Deadline, Budget: s.Budget, Nodes: s.Nodes, CPUs: float64(s.CPUs), Env: map[string]string{},
		Files: []string{file}, GPUs: s.GPUs, Licences: s.Licences, Memory: float64(s.Memory), Name: s.Name, Chdir: s.Chdir, Stdin: s.Stdin, Array: s.Array,
		Warn: s.Warn, Requeue: s.Requeue, Project: s.Project,
	}
	for on, to := range map[string]*[]int64{"ok": &a.After, "any": &a.AfterEnded, "notok": &a.AfterFailed} {
		for _, n := range s.After[on] {
			*to = append(*to, int64(n))
		}
	}
	for _, one := range s.Env {
		name, value, _ := strings.Cut(one, "=")
		a.Env[name] = value
	}
	a.Command = append([]string{"./" + filepath.Base(file)}, c.Args().Slice()...)
	return a, nil
}
