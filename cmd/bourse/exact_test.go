package main

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

// TestMoneyOfProducts checks that no code converts a product, quotient, sum or difference
// of float64s to money or a rate, either in the call or through a variable. bank.Product
// and bank/exact multiply decimals exactly and round once. This is a test because no linter
// in .golangci.yml checks the arguments of calls.
func TestMoneyOfProducts(t *testing.T) {
	t.Parallel()
	root, files := filepath.Join("..", ".."), 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files++
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		for _, at := range inexact(f) {
			t.Errorf("%s: converts the result of arithmetic to money; use bank.Product or bank/exact", set.Position(at))
		}
		return nil
	})
	if err != nil || files < 500 {
		t.Fatalf("%d files read: %v", files, err)
	}
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "planted.go", `package planted
func planted() {
	bank.Dollars(price * seconds)
	bank.Dollars(min(rate*delay, most))
	market.Dollars(hourly / 3600)
	settlement.Price(float64(a) + b)
	sum := fee + rest
	dollars(sum)
	bank.Dollars(value)
	bank.Dollars(budgets[n+1])
	bank.Product(price, seconds)
}
`, 0)
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for _, at := range inexact(f) {
		lines = append(lines, set.Position(at).Line)
	}
	if want := []int{3, 4, 5, 6, 8}; !slices.Equal(lines, want) {
		t.Errorf("of what was planted lines %v were seen, want %v", lines, want)
	}
}

// inexact returns the calls in f that convert the result of arithmetic to money or a rate.
func inexact(f *ast.File) (found []token.Pos) {
	for _, d := range f.Decls {
		computed := make(map[string]bool) // variables of the function
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					if id, ok := to.(*ast.Ident); ok && len(n.Rhs) == len(n.Lhs) && arithmetic(n.Rhs[i]) {
						computed[id.Name] = true
					}
				}
			case *ast.CallExpr:
				if !converts(n.Fun) || len(n.Args) != 1 {
					return true
				}
				if id, ok := n.Args[0].(*ast.Ident); ok && computed[id.Name] || arithmetic(n.Args[0]) {
					found = append(found, n.Pos())
				}
			}
			return true
		})
	}
	return found
}

// converts reports whether a call of fun converts a float64 to money or a rate.
func converts(fun ast.Expr) bool {
	switch fun := fun.(type) {
	case *ast.Ident:
		return fun.Name == "dollars" || fun.Name == "Dollars"
	case *ast.SelectorExpr:
		x, ok := fun.X.(*ast.Ident)
		return ok && (fun.Sel.Name == "Dollars" || x.Name == "settlement" && fun.Sel.Name == "Price")
	}
	return false
}

// arithmetic reports whether x is a sum, difference, product or quotient, or a call with such an
// argument.
func arithmetic(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.BinaryExpr:
		return slices.Contains([]token.Token{token.ADD, token.SUB, token.MUL, token.QUO}, x.Op)
	case *ast.ParenExpr:
		return arithmetic(x.X)
	case *ast.CallExpr: // this case covers calls of min, conversions and so on
		return slices.ContainsFunc(x.Args, arithmetic)
	}
	return false
}
