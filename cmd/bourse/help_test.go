package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// leaves returns the commands that perform an action, keyed by the words that call them.
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

// TestExamples checks that --help of every command contains an example of a call.
func TestExamples(t *testing.T) {
	t.Parallel()
	for name, c := range leaves("", newApp(nil, nil, nil).Commands) {
		if !strings.Contains(c.Description, "bourse "+name) {
			t.Errorf("bourse %s --help: no example", name)
		}
	}
}

// TestExtra checks that every command refuses more arguments than it accepts, except the
// commands that accept any number.
func TestExtra(t *testing.T) {
	t.Parallel()
	several := []string{
		"paper claims", "show claims", "job status", "job cancel", "job fetch", "run merge", "job submit",
		"policy check", "policy ask", "scenario schema", "judge",
	}
	for name, c := range leaves("", newApp(nil, nil, nil).Commands) {
		if any := strings.HasSuffix(c.ArgsUsage, "..."); any || strings.Contains(c.ArgsUsage, "...") {
			if !slices.Contains(several, name) {
				t.Errorf("bourse %s takes any number of arguments: %s", name, c.ArgsUsage)
			}
			continue
		}
		args := strings.Fields(name)
		for range len(strings.Fields(c.ArgsUsage)) + 1 {
			args = append(args, "nonsense")
		}
		if status, _, errs := bourse(t, t.Context(), args...); status != statusUsage || !strings.Contains(errs, `found "nonsense"`) {
			t.Errorf("bourse %s: exit status %d: %s", strings.Join(args, " "), status, errs)
		}
	}
}

// TestJSON checks that programs can read the output of every command: either the output is
// always for programs, or the command has the flag --json.
func TestJSON(t *testing.T) {
	t.Parallel()
	forPrograms := []string{
		"workload schedule", "ledger export", "ledger checkpoint", "ledger prove", "ledger publish", "ledger witness", "scenario schema",
		"live agent", "live agent unit", "live agent drain", "live start", "bank serve", "live serve", "live host invite", "live host drain", "live host remove", "live user invite", "live user remove",
		"live user join", "job logs", "bank init", "bank apply", "bank log", "bank sign", "bank invite", "bank key", "completion", "man", "scenario new", "show jobs", "show prices", "live export",
		"bank certificate", "live rotate", "paper list", "openapi",
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

// TestSummaries checks that the summary of a command has at most 60 characters, is not a
// sentence and is not a list.
func TestSummaries(t *testing.T) {
	t.Parallel()
	var walk func(before string, commands []*cli.Command)
	walk = func(before string, commands []*cli.Command) {
		for _, c := range commands {
			if n := len([]rune(c.Usage)); n == 0 || n > 60 || strings.ContainsAny(c.Usage, ";.") && !strings.Contains(c.Usage, "'") || strings.ToLower(c.Usage[:1]) != c.Usage[:1] {
				t.Errorf("bourse %s%s: found the summary %q of %d characters, want up to 60 without a period", before, c.Name, c.Usage, n)
			}
			walk(before+c.Name+" ", c.Subcommands)
		}
	}
	walk("", newApp(nil, nil, nil).Commands)
}

// TestMoved checks that a command can be called by its name in the last version, and that one
// line on a terminal reports the new name. For a removed command, the program prints its
// replacement.
func TestMoved(t *testing.T) {
	t.Parallel()
	app := newApp(nil, nil, nil)
	for old, now := range moved {
		if problem := wrongCall(app, strings.TrimSuffix(now, " --list")); problem != "" {
			t.Errorf("%s is %s now: %s", old, now, problem)
		}
		if _, note, err := today(append([]string{"bourse"}, strings.Fields(old)...)); err != nil || !strings.Contains(note, "'bourse "+now+"'") {
			t.Errorf("%s: %q, %v, want %s", old, note, err, now)
		}
	}
	for _, call := range []string{"presets", "presets --json"} {
		status, out, errs := bourse(t, t.Context(), strings.Fields(call)...)
		if status != statusDone || !strings.Contains(out, "librarisk") || errs != "" {
			t.Errorf("bourse %s: exit status %d, %q, want nothing on standard error, which is no terminal", call, status, errs)
		}
	}
	for old := range gone {
		status, _, errs := bourse(t, t.Context(), strings.Fields(old)...)
		if status != statusUsage || !strings.Contains(errs, "was removed: ") {
			t.Errorf("bourse %s: exit status %d, %q", old, status, errs)
		}
	}
	for call, want := range map[string]string{"live": "live start", "live lab --hosts 2": "live start lab --hosts 2", "live --help": "live --help", "live check": "live check", "live start": "live start"} {
		got, _, _ := today(strings.Fields("bourse " + call))
		if strings.Join(got[1:], " ") != want {
			t.Errorf("bourse %s is %q, want %s", call, got, want)
		}
	}
}

// TestHelp checks that 'help COMMAND' equals 'COMMAND --help'.
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
