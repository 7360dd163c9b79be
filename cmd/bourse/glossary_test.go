package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// privateNames lists words that once had a meaning only in this code. Each maps to the standard
// term and to the number of declarations that still use the word. This number may only
// decrease. Words that also have a standard meaning, such as whole (number) and letter (of a
// state), cannot be counted.
var privateNames = map[string]struct {
	want  string
	limit int
}{
	"minder":      {"supervisor", 0},
	"told":        {"notified, or described", 25},
	"Told":        {"Report", 5},
	"tell":        {"notify, or setNow", 7},
	"hear":        {"handleReport", 5},
	"said":        {"describe, or reported", 66},
	"Said":        {"Reported", 4},
	"Twice":       {"Comparison", 0},
	"deal":        {"allocation", 8},
	"Deal":        {"AllocationSeq", 7},
	"dealer":      {"scheduler", 2},
	"bring":       {"advance", 2},
	"Bring":       {"Advance", 0},
	"stands":      {"shouldPause", 7},
	"Standing":    {"Status", 0},
	"keeper":      {"operator, or book", 3},
	"kept":        {"stored", 55},
	"Kept":        {"Realized, or Selection", 10},
	"foretell":    {"forecast", 0},
	"foresight":   {"prefetch", 0},
	"Tempt":       {"Deviate", 0},
	"Temptations": {"Deviations", 1},
	"trail":       {"drilldown", 15},
	"arena":       {"workspace", 0},
	"lasting":     {"nonExpiring", 2},
	"Lasting":     {"FixedShares", 0},
	"misuse":      {"usererr", 1},
	"memo":        {"deepcopy", 4},
	"purse":       {"fundsChecker", 2},
	"pledge":      {"commitment", 0},
	"Fate":        {"Outcome", 5},
	"Course":      {"Outcome", 0},
	"Vain":        {"Unsolved", 2},
	"asker":       {"poller", 1},
	"counsel":     {"recommendation", 1},
	"barring":     {"denyingTeller", 1},
	"shelf":       {"a new word", 0},
	"agenda":      {"a new word", 0},
	"presence":    {"availability", 0},
	"instant":     {"time", 5},
}

// TestGlossary checks that each word has one meaning, as far as a test can check this. The
// glossary must define each term once, and the number of declarations with private words must
// not grow.
func TestGlossary(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/concepts.md")
	if err != nil {
		t.Fatal(err)
	}
	defined := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\*\*(.+?)\.\*\* `).FindAllStringSubmatch(string(page), -1) {
		for term := range strings.SplitSeq(m[1], ", ") {
			if defined[term] {
				t.Errorf("concepts: %s is defined twice, want one definition", term)
			}
			defined[term] = true
			if p, ok := privateNames[strings.ToLower(term)]; ok {
				t.Errorf("concepts: found %s, want %s", term, p.want)
			}
		}
	}
	if len(defined) < 30 {
		t.Errorf("concepts: found %d terms, want at least 30", len(defined))
	}
	found := map[string][]string{}
	err = filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git") {
			return cmp.Or(err, fs.SkipDir)
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".pb.go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, id := range declared(file) {
			if _, private := privateNames[id.Name]; private {
				found[id.Name] = append(found[id.Name], fmt.Sprintf("%s:%d", path, set.Position(id.Pos()).Line))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range privateNames {
		if places := found[name]; len(places) > p.limit {
			t.Errorf("%s names %d things, want at most %d; use %s: %s", name, len(places), p.limit, p.want, strings.Join(places, " "))
		}
	}
}

// declared returns the names declared in a file: packages, types, functions, methods,
// fields, parameters, constants and variables.
func declared(file *ast.File) []*ast.Ident {
	names := []*ast.Ident{file.Name}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			names = append(names, n.Name)
		case *ast.TypeSpec:
			names = append(names, n.Name)
		case *ast.ValueSpec:
			names = append(names, n.Names...)
		case *ast.Field:
			names = append(names, n.Names...)
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				if id, ok := x.(*ast.Ident); ok && n.Tok == token.DEFINE {
					names = append(names, id)
				}
			}
		}
		return true
	})
	return names
}
