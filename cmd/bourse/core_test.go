package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// core lists the packages that a newcomer reads first, in the order in which 'docs core'
// lists them.
var core = []string{
	"market", "hosts", "hosts/sim", "bank", "contracts", "contracts/admission", "contracts/bidding", "contracts/sharing",
	"contracts/floor", "contracts/settlement", "contracts/note", "contracts/broker",
}

// Maximum lines of code of this module that packages may compile. The target for the core
// is 7,500.
const (
	coreClosure        = 9_275
	experimentsClosure = 47_403
)

// most contains the maximum lines of code of packages. A package that is not listed may
// have 500 lines.
var most = map[string]int{
	"bank":                           980,
	"bank/audit":                     3050,
	"bank/export":                    550,
	"bank/owners":                    920,
	"bank/peers":                     550,
	"bank/service":                   1300,
	"bank/store":                     3350,
	"bank/store/postgres":            1100,
	"bank/store/postgres/pgtest":     550,
	"bank/tiles":                     550,
	"cmd/bourse":                     10721,
	"contracts":                      809,
	"contracts/admission":            775,
	"contracts/admission/booked":     650,
	"contracts/admission/cleared":    1250,
	"contracts/admission/libra":      568,
	"contracts/admission/outside":    1117,
	"contracts/admission/policytest": 510,
	"contracts/admission/queue":      1499,
	"contracts/admission/reserve":    656,
	"contracts/admission/script":     1135,
	"contracts/broker":               1353,
	"contracts/floor":                1753,
	"contracts/memo":                 600,
	"experiments":                    3828,
	"experiments/fitlab":             1150,
	"experiments/judge":              759,
	"experiments/live":               6017,
	"experiments/live/client":        833,
	"experiments/live/page":          500,
	"experiments/live/service":       1087,
	"experiments/metrics":            1290,
	"experiments/optimum":            486,
	"experiments/papers":             990,
	"experiments/papers/claims":      1010,
	"experiments/publication":        2765,
	"experiments/report":             3177,
	"experiments/results":            3246,
	"experiments/scenario":           2030,
	"experiments/stats":              595,
	"experiments/study":              3340,
	"experiments/trail":              500,
	"experiments/verify":             4601,
	"experiments/whatif":             2820,
	"hosts/agent":                    3624,
	"hosts/slurm":                    515,
	"hosts/availability/models":      550,
	"hosts/availability/predictors":  500,
	"hosts/availability/sched":       600,
	"hosts/availability/traces":      800,
	"hosts/linux":                    1450,
	"hosts/timetable":                1400,
	"market":                         728,
	"market/packing":                 900,
	"market/clearing":                936,
	"workloadgen":                    770,
	"workloadgen/dist":               950,
	"workloadgen/fit":                850,
	"workloadgen/models":             1150,
	"workloadgen/config":             1240,
	"workloadgen/swf":                2196,
}

// TestSizes checks that no package has more lines of code than allowed and that none
// compiles more of this module than allowed.
func TestSizes(t *testing.T) {
	t.Parallel()
	lines, closure := sizes(t)
	for room, n := range lines {
		if limit := maxLines(room); n > limit {
			t.Errorf("%s has %d lines of code, want at most %d", room, n, limit)
		}
	}
	for room := range most {
		if lines[room] == 0 {
			t.Errorf("%s is listed and has no code", room)
		}
	}
	for _, c := range []struct {
		what  string
		rooms []string
		limit int
	}{{"the core", core, coreClosure}, {"experiments", []string{"experiments"}, experimentsClosure}} {
		sum := 0
		for _, room := range closure(c.rooms) {
			sum += lines[room]
		}
		t.Logf("%s compiles %d lines of code", c.what, sum)
		if sum > c.limit || sum < c.limit/2 {
			t.Errorf("%s compiles %d lines of code, want at most %d", c.what, sum, c.limit)
		}
	}
	text, err := os.ReadFile("docs/core.md")
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, room := range core {
		next := strings.Index(string(text)[at:], "| `"+room+"`")
		if next < 0 {
			t.Fatalf("docs/core.md does not name %s, or not in this order", room)
		}
		at += next
	}
}

// maxLines returns the maximum lines of code of a package.
func maxLines(room string) int {
	if n, listed := most[room]; listed {
		return n
	}
	return 500
}

// sizes returns the lines of code of each package, without tests and generated files. It
// also returns a function that lists packages with all their imports.
func sizes(t *testing.T) (lines map[string]int, closure func(rooms []string) []string) {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{.Dir}} {{join .GoFiles ","}},{{join .IgnoredGoFiles ","}} {{join .Imports " "}}`, "bourse/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines, imports := make(map[string]int), make(map[string][]string)
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		room := strings.TrimPrefix(f[0], "bourse/")
		for _, name := range strings.Split(f[2], ",") {
			if name == "" || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".pb.go") || strings.HasSuffix(name, ".connect.go") {
				continue
			}
			text, err := os.ReadFile(filepath.Join(f[1], name))
			if err != nil {
				t.Fatal(err)
			}
			lines[room] += codeLines(string(text))
		}
		for _, imp := range f[3:] {
			if to, ours := strings.CutPrefix(imp, "bourse/"); ours {
				imports[room] = append(imports[room], to)
			}
		}
	}
	return lines, func(rooms []string) (all []string) {
		for next := slices.Clone(rooms); len(next) > 0; {
			room := next[0]
			if next = next[1:]; !slices.Contains(all, room) {
				all, next = append(all, room), append(next, imports[room]...)
			}
		}
		return all
	}
}

// codeLines counts the lines of text that are neither blank nor comments.
func codeLines(text string) (n int) {
	block := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case block:
			block = !strings.Contains(line, "*/")
		case strings.HasPrefix(line, "/*"):
			block = !strings.Contains(line, "*/")
		case line != "" && !strings.HasPrefix(line, "//"):
			n++
		}
	}
	return n
}

// TestCodeLines checks what counts as code.
func TestCodeLines(t *testing.T) {
	t.Parallel()
	if got := codeLines("package p\n\n// A comment.\n/* one\ntwo */\n/* three */\nvar x = 1 // code\n"); got != 2 {
		t.Errorf("%d lines of code, want 2", got)
	}
	if got := maxLines("hosts/eventheap"); got != 500 {
		t.Errorf("a package that is not listed may have %d lines, want 500", got)
	}
}
