package experiments_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// TestWays checks that every file and identifier in the package comment's paths exists, and
// that no path has more than ten steps.
func TestWays(t *testing.T) {
	t.Parallel()
	doc, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	step := regexp.MustCompile(`^\t([\w/]+\.go) +(\w+(?:\.\w+)?) +\S`)
	steps, ways := 0, 0
	for line := range strings.Lines(doc.Doc.Text()) {
		m := step.FindStringSubmatch(line)
		if m == nil {
			if steps > 10 {
				t.Errorf("a way of %d steps before %q", steps, line)
			}
			if steps > 0 {
				ways++
			}
			steps = 0
			continue
		}
		steps++
		f, err := parser.ParseFile(token.NewFileSet(), "../"+m[1], nil, 0)
		if err != nil {
			t.Error(err)
		} else if !declares(f, m[2]) {
			t.Errorf("%s declares no %s", m[1], m[2])
		}
	}
	if ways != 4 {
		t.Errorf("%d ways, want 4", ways)
	}
}

// declares reports whether f declares the function, or the method Type.Method.
func declares(f *ast.File, name string) bool {
	of, method, isMethod := strings.Cut(name, ".")
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || isMethod != (fn.Recv != nil) {
			continue
		}
		if !isMethod && fn.Name.Name == name || isMethod && fn.Name.Name == method && receiver(fn.Recv.List[0].Type) == of {
			return true
		}
	}
	return false
}

// receiver returns the name of a method's receiver type.
func receiver(e ast.Expr) string {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	id, _ := e.(*ast.Ident)
	if id == nil {
		return ""
	}
	return id.Name
}
