package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestCompletion loads the scripts that the program prints into the shells, and checks their
// completions of the last word: commands, flags and known values.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for shell, script := range map[string]string{
		"bash": bashCompletion + `COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _bourse; printf '%s\n' "${COMPREPLY[@]}"`,
		"zsh": `compdef() { [[ "$*" == "_bourse bourse" ]] }; _describe() { print -l -- ${(M)found:#${words[CURRENT]}*} }; _files() { }
` + zshCompletion + `words=("$@"); CURRENT=$#; _bourse`,
		"fish": fishCompletion + `complete -C (string join -- ' ' $argv[2..])`,
	} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skip("no " + shell)
			}
			testCompletion(t, path, script)
		})
	}
}

func testCompletion(t *testing.T, shell, script string) {
	dir := t.TempDir()
	for _, c := range []struct {
		words string // words of the command line, separated by commas
		want  string // one of the possible completions
		never string // text that no completion may contain
	}{
		{"", "ledger", "--json"},
		{"le", "ledger", "run"},
		{"ledger,", "audit", "run"},
		{"ledger,audit,-", "--json", "audit"},
		{"ledger,audit,--", "--json", "audit"},
		{"run,--pr", "--preset", "--json"},
		{"run,--preset,", "paper", "--json"},
		{"run,--preset,lib", "librarisk", "paper"},
		{"scenario,options,", "admission", "--json"},
		{"policies,", "admission", "--json"},
		{"scenario,show,p", "paper", "kth"},
		{"workload,generate,", "lublin", "describe"},
		{"ledger,export,DIR,--format,", "hledger", "audit"},
		{"completion,z", "zsh", "bash"},
		{"docs,con", "concepts", "backup"},
		{"scenario,schema,--json-of,l", "ledger", "audit"},
		{"scenario,schema,--json-of,ledger,", "audit", "ledger"},
	} {
		words := strings.Split("bourse,"+c.words, ",")
		cmd := exec.CommandContext(t.Context(), shell, append([]string{"-c", script, "test"}, words...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		got := strings.Fields(string(out))
		if err != nil || !slices.Contains(got, c.want) || slices.Contains(got, c.never) {
			t.Errorf("%s: %v, %q, want %s and not %s", c.words, err, got, c.want, c.never)
		}
	}
}
