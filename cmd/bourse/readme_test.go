package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bourse/bank/store/postgres/pgtest"
)

// A shown command stands in the README with what it prints.
type shown struct {
	line    int
	command string
	output  []string // "..." stands for any lines
	server  bool     // it needs PostgreSQL
}

// TestReadme runs the commands that the README shows, in one directory, and
// checks that each succeeds and prints what is shown. The command that passes
// the tests is not run from within them. Those in blocks marked postgres have the URL
// of a ledger on a server in $BANK, and are not run where there is none.
func TestReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	commands := console(string(text), "```console", "```console postgres")
	if len(commands) < 8 {
		t.Fatalf("found %d commands", len(commands))
	}
	dir := t.TempDir()
	env := append(os.Environ(), "LC_ALL=C.UTF-8")
	server := pgtest.Found()
	if server {
		env = append(env, "BANK="+pgtest.URL(t))
	} else {
		t.Log("what the README shows about PostgreSQL is not run: there is no server, nor a program to start one")
	}
	for _, s := range commands {
		if s.command == "go test ./..." || s.server && !server {
			continue
		}
		command := strings.Replace(s.command, "go run ./cmd/bourse", "bourse", 1)
		sh := exec.Command("sh", "-c", command)
		sh.Dir = dir
		sh.Env = env
		var out, errs bytes.Buffer
		sh.Stdout, sh.Stderr = &out, &errs
		if err := sh.Run(); err != nil {
			t.Errorf("README.md:%d: %s: %v: %s", s.line, s.command, err, errs.Bytes())
			continue
		}
		got := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
		if out.Len() == 0 {
			got = nil
		}
		if missing, ok := follows(got, s.output); !ok {
			t.Errorf("README.md:%d: %s: does not print %q where it is shown; it prints\n%s", s.line, s.command, missing, out.String())
		}
	}
}

// console returns the commands in the blocks of a Markdown text that begin with one of
// these lines.
func console(text string, blocks ...string) []shown {
	var all []shown
	inside, server := false, false
	for i, line := range strings.Split(text, "\n") {
		switch {
		case slices.Contains(blocks, line):
			inside, server = true, line == "```console postgres"
		case strings.HasPrefix(line, "```"):
			inside = false
		case inside && strings.HasPrefix(line, "$ "):
			all = append(all, shown{line: i + 1, command: line[2:], server: server})
		case inside:
			last := &all[len(all)-1]
			last.output = append(last.output, line)
		}
	}
	return all
}

// follows reports whether got is what want shows, trailing spaces apart, and
// otherwise the line that is missing.
func follows(got, want []string) (missing string, ok bool) {
	skip := false
	for _, w := range want {
		if w == "..." {
			skip = true
			continue
		}
		for skip && len(got) > 0 && strings.TrimRight(got[0], " ") != w {
			got = got[1:]
		}
		if len(got) == 0 || strings.TrimRight(got[0], " ") != w {
			return w, false
		}
		got, skip = got[1:], false
	}
	if len(got) > 0 && !skip {
		return got[0], false
	}
	return "", true
}

// TestFollows checks that a line which is not printed is missed.
func TestFollows(t *testing.T) {
	t.Parallel()
	got := []string{"a", "b ", "c"}
	for _, c := range []struct {
		want string
		ok   bool
	}{
		{"a|b|c", true}, {"a|...", true}, {"...|c", true}, {"...|b|...", true}, {"...", true},
		{"a|c", false}, {"a|b", false}, {"...|d|...", false}, {"", false},
	} {
		if _, ok := follows(got, strings.Split(c.want, "|")); ok != c.ok {
			t.Errorf("%q: %v, want %v", c.want, ok, c.ok)
		}
	}
}
