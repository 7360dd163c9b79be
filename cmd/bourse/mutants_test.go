package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/cover"
)

var mutated = flag.String("mutants", "", "mutate the rooms under contracts, market and hosts whose import path matches this `pattern`, and see their own tests catch it")

const (
	gremlins   = "github.com/go-gremlins/gremlins/cmd/gremlins"
	mutantList = ".ci/mutants.txt"
	patience   = 30 * time.Second // minimum test timeout of a package for one mutant

	mostLived   = 0.1 // fraction of the covered mutants that may survive, in addition to those listed
	mostUnknown = 0.1 // fraction of all mutants that may be in code that no test runs
)

// TestMutants checks how well each package's own tests detect changes. Of the mutants that
// gremlins makes in tested code with its default mutators, the tests must kill 90 %, not
// counting those in .ci/mutants.txt. In addition, 90 % of all mutants must be in code that
// the tests run. A mutant whose tests do not end counts as killed.
func TestMutants(t *testing.T) {
	if *mutated == "" {
		t.Skip("takes hours; -mutants . runs it")
	}
	root := filepath.Join("..", "..")
	listed := readMutants(t, root)
	tool := t.TempDir() // not with go run, because it puts its own go command first
	build := exec.Command("go", "build", "-C", filepath.Join(root, ".ci", "tools"), "-o", tool, gremlins)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", gremlins, err, out)
	}
	list := exec.Command("go", "list", "-f", "{{.ImportPath}}", "./contracts/...", "./market", "./hosts/...")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	pattern, ran := regexp.MustCompile(*mutated), 0
	for room := range strings.FieldsSeq(string(out)) {
		if !pattern.MatchString(room) {
			continue
		}
		ran++
		t.Run(room, func(t *testing.T) {
			mutate(t, filepath.Join(tool, "gremlins"), root, strings.TrimPrefix(room, "bourse/"), listed)
		})
	}
	if ran == 0 {
		t.Errorf("no room matches %q", *mutated)
	}
}

// mutate tests the mutants of the package in dir, in the module at root.
func mutate(t *testing.T, tool, root, dir string, listed []equivalent) {
	start := time.Now()
	own := exec.Command("go", "test", "-count", "1", "./"+dir+"/...")
	own.Dir = root
	if out, err := own.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", dir, err, out)
	}
	factor := max(5, math.Ceil(float64(patience)/float64(time.Since(start))))
	result := filepath.Join(t.TempDir(), "mutants.json")
	run := exec.Command(tool, "unleash", "--silent", "--exclude-files", "/", // exclude the packages in subfolders
		"--timeout-coefficient", strconv.Itoa(int(factor)), "--output", result, "./"+dir)
	run.Dir = root
	run.Env = append(os.Environ(),
		"GOFLAGS=-count=1", // a cached run would not show how long the tests take
		"PATH="+coverCases(t, root, dir)+string(os.PathListSeparator)+os.Getenv("PATH"))
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", dir, err, out)
	}
	text, err := os.ReadFile(result)
	if err != nil {
		t.Fatal(err)
	}
	var found struct {
		Files []struct {
			Name      string   `json:"file_name"`
			Mutations []mutant `json:"mutations"`
		} `json:"files"`
	}
	if err := json.Unmarshal(text, &found); err != nil {
		t.Fatal(err)
	}
	number := map[string]int{}
	for _, f := range found.Files {
		name := path.Join(dir, f.Name)
		lines := readLines(t, filepath.Join(root, name))
		for _, m := range f.Mutations {
			line := lines[m.Line-1]
			switch {
			case m.Status == "LIVED" && isListed(listed, name, line, m):
				m.Status = "LISTED"
			case m.Status == "LIVED":
				t.Logf("lived: %s:%d:%d: %s: %s", name, m.Line, m.Column, m.change(line), strings.TrimSpace(line))
			}
			number[m.Status]++
		}
	}
	killed, lived, unknown := number["KILLED"]+number["TIMED OUT"], number["LIVED"], number["NOT COVERED"]
	t.Logf("%-30s %4d killed %4d timed out %4d lived %4d listed %4d not covered",
		dir, number["KILLED"], number["TIMED OUT"], lived, number["LISTED"], unknown)
	if float64(lived) > mostLived*float64(killed+lived) {
		t.Errorf("%s: %d of %d covered mutants live, want at most one in ten", dir, lived, killed+lived)
	}
	if all := killed + lived + unknown + number["LISTED"]; float64(unknown) > mostUnknown*float64(all) {
		t.Errorf("%s: %d of %d mutants are in code that its tests do not run, want at most one in ten", dir, unknown, all)
	}
}

// coverCases returns a folder with a go command that completes coverage profiles. It adds
// the conditions of cases, which are not in a code block. If the package's tests run a
// switch, its conditions count as run.
func coverCases(t *testing.T, root, dir string) string {
	bin := t.TempDir()
	profile, err := filepath.Abs(filepath.Join(bin, "profile"))
	if err != nil {
		t.Fatal(err)
	}
	own := exec.Command("go", "test", "-coverprofile", profile, "./"+dir)
	own.Dir = root
	if out, err := own.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", dir, err, out)
	}
	if _, err := os.Stat(profile); err != nil {
		return bin // the package has no tests
	}
	profiles, err := cover.ParseProfiles(profile)
	if err != nil {
		t.Fatal(err)
	}
	var cases strings.Builder
	for _, p := range profiles {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, filepath.Join(root, strings.TrimPrefix(p.FileName, "bourse/")), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SwitchStmt)
			if !ok || !isRun(p, set.Position(s.Switch)) {
				return true
			}
			for _, c := range s.Body.List {
				c := c.(*ast.CaseClause)
				from, to := set.Position(c.Case), set.Position(c.Colon)
				fmt.Fprintf(&cases, "%s:%d.%d,%d.%d 1 1\n", p.FileName, from.Line, from.Column, to.Line, to.Column)
			}
			return true
		})
	}
	program, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf(`#!/bin/sh
%q "$@" || exit
while [ $# -gt 1 ]; do
  [ "$1" != -coverprofile ] || cat %q >>"$2"
  shift
done
`, program, filepath.Join(bin, "cases"))
	for name, text := range map[string]string{"go": script, "cases": cases.String()} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return bin
}

// isRun reports whether the position at is in a block that was run.
func isRun(p *cover.Profile, at token.Position) bool {
	for _, b := range p.Blocks {
		if b.Count > 0 && (at.Line > b.StartLine || at.Line == b.StartLine && at.Column >= b.StartCol) &&
			(at.Line < b.EndLine || at.Line == b.EndLine && at.Column <= b.EndCol) {
			return true
		}
	}
	return false
}

// A mutant is a change to the code, as reported by gremlins.
type mutant struct {
	Type   string
	Status string
	Line   int
	Column int
}

// change returns the text that m changes in the given line.
func (m mutant) change(line string) string {
	for _, c := range changes {
		if c.kind == m.Type && strings.HasPrefix(line[m.Column-1:], c.from) {
			return c.from + " -> " + c.to
		}
	}
	return m.Type
}

// changes lists the changes that gremlins' default mutators make, longer tokens first.
var changes = []struct{ kind, from, to string }{
	{"CONDITIONALS_BOUNDARY", "<=", "<"}, {"CONDITIONALS_BOUNDARY", ">=", ">"},
	{"CONDITIONALS_BOUNDARY", "<", "<="}, {"CONDITIONALS_BOUNDARY", ">", ">="},
	{"CONDITIONALS_NEGATION", "<=", ">"}, {"CONDITIONALS_NEGATION", ">=", "<"},
	{"CONDITIONALS_NEGATION", "<", ">="}, {"CONDITIONALS_NEGATION", ">", "<="},
	{"CONDITIONALS_NEGATION", "==", "!="}, {"CONDITIONALS_NEGATION", "!=", "=="},
	{"INCREMENT_DECREMENT", "++", "--"}, {"INCREMENT_DECREMENT", "--", "++"},
	{"ARITHMETIC_BASE", "+", "-"}, {"ARITHMETIC_BASE", "-", "+"}, {"INVERT_NEGATIVES", "-", "+"},
	{"ARITHMETIC_BASE", "*", "/"}, {"ARITHMETIC_BASE", "/", "*"}, {"ARITHMETIC_BASE", "%", "*"},
}

// An equivalent is a mutant that no test of its package, or no test at all, can distinguish
// from the original code. It changes the token with the given number in the line, counted
// from 1.
type equivalent struct {
	file, line, change string
	number             int
	reason             string
}

var (
	entryHead   = regexp.MustCompile(`^(\S+\.go): (\S.*)$`)
	entryChange = regexp.MustCompile(`^\t(\S+ -> \S+)(?: #(\d))?: (\S.*)$`)
)

// readMutants reads the list of equivalent mutants of the module at root.
func readMutants(t *testing.T, root string) (list []equivalent) {
	var e equivalent
	for i, line := range readLines(t, filepath.Join(root, mutantList)) {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if head := entryHead.FindStringSubmatch(line); head != nil {
			e.file, e.line = head[1], head[2]
		} else if change := entryChange.FindStringSubmatch(line); change != nil && e.file != "" {
			e.change, e.reason = change[1], change[3]
			e.number, _ = strconv.Atoi(cmp.Or(change[2], "1"))
			list = append(list, e)
		} else {
			t.Errorf("%s:%d: %q is neither `FILE.go: LINE` nor, tabbed, `FROM -> TO: REASON` or `FROM -> TO #2: REASON`", mutantList, i+1, line)
		}
	}
	return list
}

// isListed reports whether the list contains m, which is in the given line of file.
func isListed(list []equivalent, file, line string, m mutant) bool {
	for _, e := range list {
		if e.file == file && e.line == strings.TrimSpace(line) && e.change == m.change(line) && e.column(line) == m.Column {
			return true
		}
	}
	return false
}

// column returns the position of e's token in line, from 1, or 0 if the token is not there.
func (e equivalent) column(line string) int {
	from, _, _ := strings.Cut(e.change, " ")
	left, at := e.number, 0
	for _, token := range regexp.MustCompile(`//.*|:=|\w+|[-+*/%<>=!&|]+|.`).FindAllString(line, -1) {
		if token == from {
			if left--; left == 0 {
				return at + 1
			}
		}
		at += len(token)
	}
	return 0
}

// TestMutantsListed checks that every listed mutant exists in the code: the file contains the
// line, and the line contains the token at least as often as its number states.
func TestMutantsListed(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	for _, e := range readMutants(t, root) {
		found, known := false, false
		for _, c := range changes {
			known = known || c.from+" -> "+c.to == e.change
		}
		for _, line := range readLines(t, filepath.Join(root, filepath.FromSlash(e.file))) {
			found = found || strings.TrimSpace(line) == e.line && e.column(line) > 0
		}
		if !found || !known {
			t.Errorf("%s: %s is in no line %q, or is no mutant: take it off the list, or bring it up to date", e.file, e.change, e.line)
		}
	}
}

// readLines returns the lines of a file.
func readLines(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "\n")
}
