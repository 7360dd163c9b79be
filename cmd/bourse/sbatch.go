package main

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
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
	if lacks := notYet(s); lacks != "" {
		return a, usagef("--sbatch: %s: unknown %s: live markets do not sell this resource", file, lacks)
	}
	for _, name := range s.Ignored {
		note(c, "%s: %s has no effect on a market", file, name)
	}
	a = asked{
		Class: s.Class, Work: s.Work, Deadline: s.Deadline, Budget: s.Budget, Nodes: s.Nodes, CPUs: float64(s.CPUs), Env: map[string]string{},
		Files: []string{file}, GPUs: s.GPUs, Memory: float64(s.Memory), Name: s.Name, Chdir: s.Chdir, Stdin: s.Stdin, Array: s.Array,
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

// notYet returns the directives of s that live markets do not honour.
func notYet(s *batch.Terms) string {
	lacks := map[string]bool{
		"--licenses": len(s.Licences) > 0,
	}
	for _, name := range slices.Sorted(maps.Keys(lacks)) {
		if lacks[name] {
			return name
		}
	}
	return ""
}
