package broker

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOneDoor checks that only package settlement converts float64 to money: no other package
// of contracts calls the functions that round.
func TestOneDoor(t *testing.T) {
	t.Parallel()
	seen := 0
	eachFile(t, "..", func(path string, f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := s.X.(*ast.Ident)
			if !ok || x.Name != "bank" || !slices.Contains([]string{"Dollars", "Nearest", "Product"}, s.Sel.Name) {
				return true
			}
			if seen++; filepath.Base(filepath.Dir(path)) != "settlement" {
				t.Errorf("%s calls bank.%s", path, s.Sel.Name)
			}
			return true
		})
	})
	if seen == 0 {
		t.Error("nobody rounds money")
	}
}

// TestStructsAreSmall checks that no struct of broker, floor and settlement has more
// than 16 fields.
func TestStructsAreSmall(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, room := range []string{".", "../floor", "../settlement"} {
		eachFile(t, room, func(path string, f *ast.File) {
			ast.Inspect(f, func(n ast.Node) bool {
				d, ok := n.(*ast.TypeSpec)
				if !ok {
					return true
				}
				s, ok := d.Type.(*ast.StructType)
				if !ok {
					return true
				}
				fields := 0
				for _, f := range s.Fields.List {
					fields += max(1, len(f.Names))
				}
				if seen++; fields > 16 {
					t.Errorf("%s: %s has %d fields", path, d.Name.Name, fields)
				}
				return true
			})
		})
	}
	if seen < 15 {
		t.Errorf("%d structs", seen)
	}
}

// eachFile calls f with the files of a package that are not tests.
func eachFile(t *testing.T, room string, f func(path string, file *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(room, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err == nil {
			f(path, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
