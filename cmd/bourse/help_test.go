package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// leaves returns the commands that do something, by the words that call them.
func leaves(prefix string, commands []*cli.Command) map[string]*cli.Command {
	found := make(map[string]*cli.Command)
	for _, c := range commands {
		if _, prints := printsJSON(c); prints || len(c.Subcommands) == 0 {
			found[prefix+c.Name] = c
		}
		maps.Copy(found, leaves(prefix+c.Name+" ", c.Subcommands))
	}
	return found
}

// TestExamples checks that --help of every command shows how it is called.
func TestExamples(t *testing.T) {
	t.Parallel()
	for name, c := range leaves("", newApp(nil, nil, nil).Commands) {
		if !strings.Contains(c.Description, "bourse "+name) {
			t.Errorf("bourse %s --help: no example", name)
		}
	}
}

// TestJSON checks that every command speaks to programs, too: what it prints is for
// them already, or there is --json.
func TestJSON(t *testing.T) {
	t.Parallel()
	forPrograms := []string{
		"workload schedule", "ledger export", "ledger checkpoint", "ledger prove", "ledger publish", "witness", "scenario schema", "schema",
		"agent unit", "agent drain", "bank serve", "market serve", "host invite", "host drain", "host remove", "user invite", "user remove", "join", "logs", "bank init", "bank apply", "bank log", "bank sign", "bank invite", "key new", "completion", "man", "scenario new", "show jobs", "show prices", "live export", "bank certificate", "market rotate",
	}
	for name, c := range leaves("", newApp(nil, nil, nil).Commands) {
		has := slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return f.Names()[0] == "json" })
		if _, says := printsJSON(c); says != has {
			t.Errorf("bourse %s: --json %v, and it has a schema: %v", name, has, says)
		}
		if has == slices.Contains(forPrograms, name) {
			t.Errorf("bourse %s: --json %v", name, has)
		}
	}
}

// TestHelp checks that 'help COMMAND' is 'COMMAND --help'.
func TestHelp(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"", "run", "ledger", "ledger audit"} {
		words := strings.Fields(command)
		_, want, _ := bourse(t, t.Context(), append(words, "--help")...)
		status, got, errs := bourse(t, t.Context(), append([]string{"help"}, words...)...)
		if status != statusDone || got != want || want == "" {
			t.Errorf("bourse help %s: exit status %d, %.80q, %q", command, status, got, errs)
		}
	}
}
