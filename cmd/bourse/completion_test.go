package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestCompletion asks bash, with the script that the program prints, what may stand
// where the last word does: commands, flags, and values that are known.
func TestCompletion(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	dir := t.TempDir()
	for _, c := range []struct {
		words string // separated by commas
		want  string // one of what is offered
		never string // none of it
	}{
		{"", "ledger", "--json"},
		{"le", "ledger", "run"},
		{"ledger,", "audit", "run"},
		{"ledger,audit,-", "--json", "audit"},
		{"ledger,audit,--", "--json", "audit"},
		{"run,--pr", "--preset", "--json"},
		{"run,--preset,", "paper", "--json"},
		{"run,--preset,lib", "librarisk", "paper"},
		{"policies,", "admission", "--json"},
		{"scenario,show,p", "paper", "kth"},
		{"workload,generate,", "lublin", "describe"},
		{"ledger,export,DIR,--format,", "hledger", "audit"},
		{"completion,z", "zsh", "bash"},
	} {
		words := strings.Split("bourse,"+c.words, ",")
		script := bashCompletion + `COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _bourse; printf '%s\n' "${COMPREPLY[@]}"`
		cmd := exec.CommandContext(t.Context(), bash, append([]string{"--norc", "-c", script, "test"}, words...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		got := strings.Fields(string(out))
		if err != nil || !slices.Contains(got, c.want) || slices.Contains(got, c.never) {
			t.Errorf("%s: %v, %q, want %s and not %s", c.words, err, got, c.want, c.never)
		}
	}
}
