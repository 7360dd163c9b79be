//go:build nightly

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/callgraph/rta"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// A program contains all functions of this program, and those that main can reach.
type program struct {
	*ssa.Program
	loaded  []*packages.Package
	reached map[token.Pos]bool // keyed by the position of the function's declaration
}

// wholeProgram builds the program once.
var wholeProgram = sync.OnceValues(func() (*program, error) {
	loaded, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax}, ".")
	if err != nil || packages.PrintErrors(loaded) > 0 {
		return nil, fmt.Errorf("the program does not load: %v", err)
	}
	built, roots := ssautil.AllPackages(loaded, ssa.InstantiateGenerics)
	built.Build()
	main := roots[0]
	p := &program{built, loaded, make(map[token.Pos]bool)}
	for f := range rta.Analyze([]*ssa.Function{main.Func("init"), main.Func("main")}, false).Reachable {
		p.reached[f.Pos()] = true
	}
	return p, nil
})

func build(t *testing.T) *program {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds the whole program")
	}
	p, err := wholeProgram()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestEquations checks the index in the package comment of experiments/papers. Every
// identifier in it must exist and, if it is a function, must be reachable from the program.
func TestEquations(t *testing.T) {
	t.Parallel()
	p := build(t)
	found := indexed(t)
	for _, e := range found {
		path, name, _ := strings.Cut(e, ".")
		pkg := p.ImportedPackage("bourse/" + path)
		if pkg == nil {
			t.Errorf("%s: the program has no package bourse/%s", e, path)
			continue
		}
		object := find(pkg.Pkg, name)
		f, isFunc := object.(*types.Func)
		if object == nil {
			t.Errorf("%s: there is no %s in bourse/%s", e, name, path)
		} else if isFunc && !p.reached[f.Pos()] {
			t.Errorf("%s is not reached from main", e)
		}
	}
	if len(found) < 30 {
		t.Errorf("%d equations in the index: it was not read", len(found))
	}
}

// TestReached checks that main reaches all functions of the program, except generated
// functions and those in testdata/unreached.txt. Each line of that file states what will
// call the function.
func TestReached(t *testing.T) {
	t.Parallel()
	p := build(t)
	listed := make(map[string]bool)
	text, err := os.ReadFile("testdata/unreached.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		name, why, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.TrimSpace(why) == "" {
			t.Errorf("%q: want a function and what is to call it", line)
		}
		listed[name] = true
	}
	functions := 0
	packages.Visit(p.loaded, nil, func(pkg *packages.Package) {
		path, ours := strings.CutPrefix(pkg.PkgPath, "bourse/")
		if !ours {
			return
		}
		for _, file := range pkg.Syntax {
			if ast.IsGenerated(file) {
				continue
			}
			for _, d := range file.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || f.Body == nil {
					continue
				}
				functions++
				name := path + "." + f.Name.Name
				if f.Recv != nil {
					name = path + "." + receiver(f.Recv.List[0].Type) + "." + f.Name.Name
				}
				switch {
				case f.Name.Name == "init" || f.Name.Name == "_":
				case !p.reached[f.Name.Pos()] && !listed[name]:
					t.Errorf("%s is not reached from main: remove it, or list what is to call it", name)
				case p.reached[f.Name.Pos()] && listed[name]:
					t.Errorf("%s is reached from main: take it off the list", name)
				}
				delete(listed, name)
			}
		}
	})
	for name := range listed {
		t.Errorf("%s is in the list, and nowhere else", name)
	}
	if functions < 1000 {
		t.Errorf("%d functions seen", functions)
	}
}

// indexed returns the identifiers in the index.
func indexed(t *testing.T) (found []string) {
	f, err := parser.ParseFile(token.NewFileSet(), "../../experiments/papers/papers.go", nil, parser.ParseComments|parser.PackageClauseOnly)
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

// find returns Name or Type.Method of p, or nil if there is none.
func find(p *types.Package, name string) types.Object {
	name, method, isMethod := strings.Cut(name, ".")
	object := p.Scope().Lookup(name)
	if object == nil || !isMethod {
		return object
	}
	m, _, _ := types.LookupFieldOrMethod(types.NewPointer(object.Type()), false, p, method)
	return m
}
