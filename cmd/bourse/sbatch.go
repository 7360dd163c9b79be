package main

import (
	"bytes"
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"bourse/bank/whole"
	"bourse/experiments/live/batch"

	"github.com/urfave/cli/v2"
)

// inside starts a program of the task's folder in another directory.
const inside = `at=$PWD; cd -- "$1" && shift && case $1 in /*) exec "$@";; */*) exec "$at/$@";; *) exec "$@";; esac`

// fromScript returns the contract that a job script states. Flags that are set take precedence.
func fromScript(c *cli.Context, o *submitOptions) (a asked, err error) {
	text, err := whole.Read(o.Sbatch, mostFile)
	if err != nil {
		return a, usagef("--sbatch: %w, want a file", err)
	}
	if !bytes.HasPrefix(text, []byte("#!")) {
		return a, usagef("--sbatch: %s: found no interpreter in line 1, want one, such as #!/bin/sh", o.Sbatch)
	}
	s, err := batch.Script(string(text))
	if err != nil {
		return a, usagef("--sbatch: %s: %w", o.Sbatch, err)
	}
	if lacks := notYet(s); lacks != "" {
		return a, usagef("--sbatch: %s: unknown %s: live markets do not sell it", o.Sbatch, lacks)
	}
	for _, name := range s.Ignored {
		note(c, "%s: %s has no effect on a market", o.Sbatch, name)
	}
	a = asked{
		Class: s.Class, Work: s.Work, Deadline: s.Deadline, Budget: cmp.Or(o.Budget, s.Budget), Nodes: s.Nodes, CPUs: float64(s.CPUs), Env: map[string]string{},
		Files: []string{o.Sbatch}, Memory: float64(s.Memory), Name: s.Name, Chdir: s.Chdir, Stdin: s.Stdin, Array: s.Array,
	}
	if a.Budget == "" {
		return a, usagef("--sbatch: %s: found no budget, want a line '#BOURSE --budget 2.50', or --budget", o.Sbatch)
	}
	for _, one := range s.Env {
		name, value, _ := strings.Cut(one, "=")
		a.Env[name] = value
	}
	for name, set := range map[string]func(){
		"class": func() { a.Class = o.Class }, "work": func() { a.Work = o.Work }, "deadline": func() { a.Deadline = o.Deadline },
		"nodes": func() { a.Nodes = o.Nodes }, "cpus": func() { a.CPUs = o.CPUs },
	} {
		if c.IsSet(name) {
			set()
		}
	}
	a.Command = append([]string{"./" + filepath.Base(o.Sbatch)}, c.Args().Slice()...)
	return a, nil
}

// notYet returns the directives of s that live markets do not honour.
func notYet(s *batch.Terms) string {
	lacks := map[string]bool{
		"--gpus": s.GPUs > 0, "--licenses": len(s.Licences) > 0, "--dependency": len(s.After) > 0, "--account": s.Project != "",
		"--requeue": s.Requeue > 0, "--signal": s.Warn > 0,
	}
	for _, name := range slices.Sorted(maps.Keys(lacks)) {
		if lacks[name] {
			return name
		}
	}
	return ""
}
