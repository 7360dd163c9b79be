package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestFilesDown checks that calls among the files of the command go in one direction: no
// file uses a file that uses it, directly or indirectly.
func TestFilesDown(t *testing.T) {
	t.Parallel()
	loaded, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax}, ".")
	if err != nil || packages.PrintErrors(loaded) > 0 {
		t.Fatalf("the command does not load: %v", err)
	}
	p := loaded[0]
	fileOf := func(o types.Object) string { return filepath.Base(p.Fset.Position(o.Pos()).Filename) }
	uses := map[string]map[string]string{} // one of the identifiers that a file uses of another file
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
	left := maps.Clone(uses) // files that are in a cycle or depend on one
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

// mostExported is the maximum number of exported names. Names that no other package uses
// must not be exported. Raise it only for a new package, by the number of names that its
// callers need.
const mostExported = 2951

// TestCounts checks that the number of exported functions, types, constants, variables and
// methods of exported types does not grow. It also checks that each has a comment, its own
// or that of its group. Package main, test helpers such as pgtest, and generated code are
// not counted.
func TestCounts(t *testing.T) {
	t.Parallel()
	count := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || f.Name.Name == "main" || strings.HasSuffix(f.Name.Name, "test") || ast.IsGenerated(f) {
			return err
		}
		names, bare := exported(f)
		count += len(names)
		for _, name := range bare {
			t.Errorf("%s: %s is exported and has no comment", path, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d exported names", count)
	if count > mostExported {
		t.Errorf("%d exported names, want at most %d: does another package use what was added?", count, mostExported)
	}
	f, err := parser.ParseFile(token.NewFileSet(), "planted.go", `package planted
// A and B are in a group.
const ( A, a = iota, 0; B, _ = iota, 0 )
var ( C int // C has its own comment
D int )
type ( T[P any] struct{ E int }; u int )
func (T[P]) F() {}
func (*u) G() {}
// H has a comment.
func (t *T[P]) H() { var I int; _ = I }
func J() {}
`, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	names, bare := exported(f)
	if got := strings.Join(names, " ") + ", without comment " + strings.Join(bare, " "); got != "A B C D T T.F T.H J, without comment D T T.F J" {
		t.Errorf("of what was planted was seen: %s", got)
	}
}

// exported returns the names that f exports, in order, and those without a comment.
func exported(f *ast.File) (names, bare []string) {
	add := func(name string, comments ...*ast.CommentGroup) {
		names = append(names, name)
		if !slices.ContainsFunc(comments, func(c *ast.CommentGroup) bool { return c != nil }) {
			bare = append(bare, name)
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if !d.Name.IsExported() {
			} else if d.Recv == nil {
				add(d.Name.Name, d.Doc)
			} else if of := receiver(d.Recv.List[0].Type); ast.IsExported(of) {
				add(of+"."+d.Name.Name, d.Doc)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						add(s.Name.Name, d.Doc, s.Doc, s.Comment)
					}
				case *ast.ValueSpec:
					for _, n := range s.Names {
						if n.IsExported() {
							add(n.Name, d.Doc, s.Doc, s.Comment)
						}
					}
				}
			}
		}
	}
	return names, bare
}

// receiver returns the name of a method's receiver type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}
