package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
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
	commands := console(string(text))
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

// TestReadmePolicy checks that the policy which the README shows how to add
// compiles, as a file and a line.
func TestReadmePolicy(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```go\n")
	if len(blocks) != 3 {
		t.Fatalf("found %d blocks of Go, want a policy and its line", len(blocks)-1)
	}
	policy, _, _ := strings.Cut(blocks[1], "```")
	line, _, _ := strings.Cut(blocks[2], "```")
	room, err := filepath.Abs(filepath.Join("..", "..", "contracts", "admission"))
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile(filepath.Join(room, "admission.go"))
	if err != nil {
		t.Fatal(err)
	}
	first := []byte("\t\"be\": ")
	if !bytes.Contains(table, first) {
		t.Fatal("found no table of policies")
	}
	dir := t.TempDir()
	overlay := map[string]map[string]string{"Replace": {
		filepath.Join(room, "mine.go"):      filepath.Join(dir, "mine.go"),
		filepath.Join(room, "admission.go"): filepath.Join(dir, "admission.go"),
	}}
	packed, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{
		"mine.go":      "package admission\n\nimport (\n\t\"math/rand/v2\"\n\n\t\"bourse/contracts\"\n\t\"bourse/contracts/bidding\"\n)\n\n" + policy,
		"admission.go": strings.Replace(string(table), string(first), line+string(first), 1),
		"overlay.json": string(packed),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "bourse/contracts/admission")
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// console returns the commands in the console blocks of a Markdown text.
func console(text string) []shown {
	var all []shown
	inside, server := false, false
	for i, line := range strings.Split(text, "\n") {
		switch {
		case line == "```console", line == "```console postgres":
			inside, server = true, line != "```console"
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
