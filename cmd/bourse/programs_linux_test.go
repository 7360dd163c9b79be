package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPrograms runs the script with real programs from docs/live.md as root. The output
// must match except for numbers, and the payments reported by the market must equal the
// charges in the ledger. Except in the nightly part that runs it, the script does 10 % of
// the work, and the hosts' activity in the meantime is not checked.
func TestPrograms(t *testing.T) {
	t.Parallel()
	whole := programsRun(t)
	text, err := os.ReadFile(filepath.Join("docs", "live.md"))
	if err != nil {
		t.Fatal(err)
	}
	commands := consoles(string(text), "console", "programs")
	if len(commands) != 1 {
		t.Fatalf("found %d commands", len(commands))
	}
	command := commands[0].command
	if !whole {
		command += " 1"
	}
	script := exec.Command("sh", "-c", command)
	script.Dir, script.Stderr = filepath.Join("..", ".."), os.Stderr
	out, err := script.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got, want := shape(string(out)), shape(strings.Join(commands[0].output, "\n")); whole && got != want {
		t.Errorf("docs/live.md:%d: %s prints\n%s\nof the shape\n%s, want\n%s", commands[0].line, commands[0].command, out, got, want)
	}
	paid := make(map[string]string) // payments by contract
	for _, row := range regexp.MustCompile(`(?m)^ +(\d+) .* \$(\S+)  \$\S+  fulfilled$`).FindAllStringSubmatch(string(out), -1) {
		paid[row[1]] = row[2]
	}
	charged := regexp.MustCompile(`contract (\d+): fulfilled\n +of which charged by user:me +(\S+)\n`).FindAllStringSubmatch(string(out), -1)
	for _, c := range charged {
		if paid[c[1]] != c[2] {
			t.Errorf("contract %s paid %s, and was charged %s", c[1], paid[c[1]], c[2])
		}
	}
	if len(charged) != 4 || len(paid) != 4 {
		t.Errorf("%d contracts paid, %d were charged, want 4:\n%s", len(paid), len(charged), out)
	}
}
