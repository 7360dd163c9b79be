package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// withPolicy returns an overlay for the go command: the tree with one more admission
// policy, as a file mine.go and a line in the table. It holds, too, in a tree that has
// that policy already.
func withPolicy(t *testing.T, file, line string) (overlay string) {
	t.Helper()
	room, err := filepath.Abs(filepath.Join("..", "..", "contracts", "admission"))
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile(filepath.Join(room, "admission.go"))
	if err != nil {
		t.Fatal(err)
	}
	key, _, _ := strings.Cut(strings.TrimSpace(line), ":")
	rest := regexp.MustCompile(`(?m)^\t`+regexp.QuoteMeta(key)+`: .*\n`).ReplaceAll(table, nil)
	first := []byte("\t\"be\": ")
	if !bytes.Contains(rest, first) {
		t.Fatal("found no table of policies")
	}
	dir := t.TempDir()
	packed, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(room, "mine.go"):      filepath.Join(dir, "mine.go"),
		filepath.Join(room, "admission.go"): filepath.Join(dir, "admission.go"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{
		"mine.go":      file,
		"admission.go": strings.Replace(string(rest), string(first), line+string(first), 1),
		"overlay.json": string(packed),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "overlay.json")
}

// gocmd runs the go command.
func gocmd(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("go", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestReadmePolicy checks that the policy which the README shows how to add compiles as
// it is pasted, a file and a line, and that the tests of its room pass with it.
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
	overlay := withPolicy(t, policy, line)
	if testing.Short() {
		gocmd(t, "vet", "-overlay", overlay, "bourse/contracts/admission")
		return
	}
	gocmd(t, "test", "-short", "-overlay", overlay, "bourse/contracts/admission")
}
