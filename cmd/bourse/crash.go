package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"bourse/bank/place"
	"bourse/experiments"
	"bourse/experiments/recovered"
	"bourse/experiments/report"
)

// broken describes a panic in a run. It names the run, the command that repeats the run, and a
// file next to the results. The file contains the stack and the scenario. Any other error is
// returned unchanged.
func broken(err error, command []string, streamed bool, dir, scenario string) error {
	var p *experiments.Panic
	if !errors.As(err, &p) {
		return err
	}
	again := report.Shell(command)
	file, wrong := keepStack(filepath.Dir(dir), filepath.Base(dir)+".panic-*.yaml", p, p.Cause, again, scenario)
	if streamed {
		again = "bourse run - < " + report.Shell([]string{file})
	}
	return crash(fmt.Sprintf("%v; to repeat it: %s; %s", p, again, wherever(file, wrong)))
}

// crashed describes a panic outside a run. It names the command and the file that contains
// the stack. Any other error is returned unchanged.
func crashed(err error, args []string) error {
	var p *recovered.Panic
	if !errors.As(err, &p) || errors.As(err, new(crash)) {
		return err
	}
	again := place.WithoutPasswords(report.Shell(args))
	file, wrong := keepStack(os.TempDir(), "bourse.panic-*.txt", p, p, again, "")
	return crash(fmt.Sprintf("%v; the command was: %s; %s", p, again, wherever(file, wrong)))
}

func wherever(file string, wrong error) string {
	if wrong != nil {
		return fmt.Sprintf("the stack could not be written: %v", wrong)
	}
	return "the stack is in " + file
}

// keepStack writes the panic, the command and the stack to a new file in dir. If that fails,
// it writes to the directory of temporary files. The file contains the scenario of the run.
// Comments at its top contain the other data.
func keepStack(dir, pattern string, met error, p *recovered.Panic, command, scenario string) (string, error) {
	v := version()
	text := strings.Join([]string{met.Error(), "command: " + command, "version: " + v, "", string(p.Stack)}, "\n")
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSpace(text)) {
		b.WriteString(strings.TrimRight("# "+strings.ReplaceAll(line, "\t", "    "), " \r\n") + "\n")
	}
	b.WriteString(scenario)
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		if f, err = os.CreateTemp("", pattern); err != nil {
			return "", err
		}
	}
	_, err = f.WriteString(b.String())
	return f.Name(), errors.Join(err, f.Close())
}
