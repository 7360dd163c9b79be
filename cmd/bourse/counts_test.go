package main

import (
	"go/ast"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFilesDown checks that calls among the files of the command go down: no file uses,
// by whatever way, a file that uses it.
func TestFilesDown(t *testing.T) {
	t.Parallel()
	p := build(t).loaded[0]
	fileOf := func(o types.Object) string { return filepath.Base(p.Fset.Position(o.Pos()).Filename) }
	uses := map[string]map[string]string{} // file → file → an identifier
	for _, f := range p.Syntax {
		from := filepath.Base(p.Fset.Position(f.Pos()).Filename)
		uses[from] = map[string]string{}
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			if o := p.TypesInfo.Uses[id]; o != nil && o.Pkg() == p.Types && fileOf(o) != from {
				uses[from][fileOf(o)] = id.Name
			}
			return true
		})
	}
	left := maps.Clone(uses) // those that are in a circle, or above one
	for again := true; again; {
		again = false
		for from, to := range left {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(to)), func(f string) bool { return left[f] != nil }) {
				delete(left, from)
				again = true
			}
		}
	}
	for _, from := range slices.Sorted(maps.Keys(left)) {
		var down []string
		for _, to := range slices.Sorted(maps.Keys(left[from])) {
			if left[to] != nil {
				down = append(down, to+" ("+left[from][to]+")")
			}
		}
		t.Errorf("%s is in a circle of files, or above one: it uses %s", from, strings.Join(down, ", "))
	}
	t.Logf("%d files", len(uses))
}
