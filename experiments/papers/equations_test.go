package papers_test

import (
	"go/parser"
	"go/token"
	"go/types"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/go/callgraph/rta"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// TestEquations checks the index in the comment of the package: what it names exists
// and, if it is a function, is reached from the program.
func TestEquations(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the whole program")
	}
	t.Parallel()
	loaded, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax, Dir: "../.."}, "./cmd/bourse")
	if err != nil || packages.PrintErrors(loaded) > 0 {
		t.Fatalf("the program does not load: %v", err)
	}
	program, roots := ssautil.AllPackages(loaded, ssa.InstantiateGenerics)
	program.Build()
	main := roots[0]
	reached := rta.Analyze([]*ssa.Function{main.Func("init"), main.Func("main")}, false).Reachable

	found := indexed(t)
	for _, e := range found {
		path, name, _ := strings.Cut(e, ".")
		pkg := program.ImportedPackage("bourse/" + path)
		if pkg == nil {
			t.Errorf("%s: the program has no package bourse/%s", e, path)
			continue
		}
		object := find(pkg.Pkg, name)
		f, isFunc := object.(*types.Func)
		if object == nil {
			t.Errorf("%s: there is no %s in bourse/%s", e, name, path)
		} else if isFunc {
			if _, ok := reached[program.FuncValue(f)]; !ok {
				t.Errorf("%s is not reached from main", e)
			}
		}
	}
	if len(found) < 30 {
		t.Errorf("%d equations in the index: it was not read", len(found))
	}
}

// indexed returns the identifiers of the index.
func indexed(t *testing.T) (found []string) {
	f, err := parser.ParseFile(token.NewFileSet(), "papers.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`^\t(Market|Risk|SLA|Reservations|Volunteers) +(eq\.|§|Algorithm) ?\S+(?: to \S+)? +([\w/]+\.[\w.]+) +\S`)
	for l := range strings.Lines(f.Doc.Text()) {
		if !strings.HasPrefix(l, "\t") {
			continue
		}
		m := line.FindStringSubmatch(l)
		if m == nil {
			t.Errorf("%q: want paper, § or eq., identifier, and what it is", l)
			continue
		}
		found = append(found, m[3])
	}
	return found
}

// find returns Name, or Type.Method, of p, nil if there is none.
func find(p *types.Package, name string) types.Object {
	name, method, isMethod := strings.Cut(name, ".")
	object := p.Scope().Lookup(name)
	if object == nil || !isMethod {
		return object
	}
	m, _, _ := types.LookupFieldOrMethod(types.NewPointer(object.Type()), false, p, method)
	return m
}
