// Command prose checks the English of pages, comments and strings with Vale. It counts the
// alarms of each kind, and fails if a count exceeds its limit in .ci/vale/limits. Lower the
// limits when the text is improved. Run it in the root directory of the repository:
//
//	go run .ci/prose/main.go [-list pages|comments|strings]
//
// With -list, it prints each alarm of one kind with its position.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

const limits = ".ci/vale/limits"

func main() {
	log.SetFlags(0)
	log.SetPrefix("prose: ")
	list := flag.String("list", "", "print the alarms of `KIND`: pages, comments or strings")
	flag.Parse()
	alarms, err := check()
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range alarms[*list] {
		fmt.Println(a)
	}
	allowed, err := os.ReadFile(limits)
	if err != nil {
		log.Fatal(err)
	}
	failed := false
	for line := range strings.Lines(string(allowed)) {
		var kind string
		var limit int
		if _, err := fmt.Sscan(line, &kind, &limit); err != nil {
			log.Fatalf("%s: found %q, want a kind and a number", limits, line)
		}
		n := len(alarms[kind])
		fmt.Printf("%-8s %4d alarms, at most %d\n", kind, n, limit)
		failed = failed || n > limit
	}
	if failed {
		log.Fatal("too many alarms: -list KIND prints them")
	}
}

// check returns the alarms, keyed by kind.
func check() (map[string][]string, error) {
	files, err := exec.Command("git", "ls-files", "*.md", "*.go").Output()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "prose")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	texts := filepath.Join(dir, "strings.txt")
	var text bytes.Buffer
	var places []string // position of each line of text
	var read []string
	for _, f := range strings.Fields(string(files)) {
		if strings.Contains(f, "testdata/") || strings.HasSuffix(f, ".pb.go") || strings.HasSuffix(f, ".connect.go") || strings.HasSuffix(f, "_test.go") {
			continue
		}
		read = append(read, f)
		if !strings.HasSuffix(f, ".go") {
			continue
		}
		found, err := literals(f)
		if err != nil {
			return nil, err
		}
		for _, s := range found {
			text.WriteString(s.text + "\n\n") // a paragraph per string
			places = append(places, s.place, s.place)
		}
	}
	if err := os.WriteFile(texts, text.Bytes(), 0o600); err != nil {
		return nil, err
	}
	lines, err := vale(append(read, texts))
	if err != nil {
		return nil, err
	}
	alarms := map[string][]string{}
	for _, line := range lines {
		file, rest, _ := strings.Cut(line, ":")
		switch number, message, _ := strings.Cut(rest, ":"); {
		case filepath.Base(file) == "strings.txt":
			n, err := strconv.Atoi(number)
			if err != nil || n > len(places) {
				return nil, fmt.Errorf("vale: found %q, want FILE:LINE:COLUMN", line)
			}
			_, message, _ = strings.Cut(message, ":")
			alarms["strings"] = append(alarms["strings"], places[n-1]+":"+message)
		case strings.HasSuffix(file, ".md"):
			alarms["pages"] = append(alarms["pages"], line)
		case !shortNote(file, number, message):
			alarms["comments"] = append(alarms["comments"], line)
		}
	}
	return alarms, nil
}

// shortNote reports whether an alarm is about the length or the semicolons of a short comment after
// code. Vale joins the comments after the fields of a struct, which do not end with periods, to one
// sentence.
func shortNote(file, number, message string) bool {
	text, err := os.ReadFile(file)
	n, bad := strconv.Atoi(number)
	lines := strings.Split(string(text), "\n")
	if err != nil || bad != nil || n > len(lines) || !strings.Contains(message, "bourse.Long") && !strings.Contains(message, "bourse.Chain") {
		return false
	}
	code, note, _ := strings.Cut(lines[n-1], "//")
	return strings.TrimSpace(code) != "" && len(strings.Fields(note)) < 30 && strings.Count(note, ";") < 2
}

// vale returns the alarms in files, each in the form FILE:LINE:COLUMN:RULE:MESSAGE.
func vale(files []string) ([]string, error) {
	args := append([]string{"tool", "-modfile=.ci/tools/go.mod", "vale", "--config", ".ci/vale/vale.ini", "--no-exit", "--output=line"}, files...)
	cmd := exec.Command("go", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("vale: %w", err)
	}
	var lines []string
	for scan := bufio.NewScanner(bytes.NewReader(out)); scan.Scan(); {
		lines = append(lines, scan.Text())
	}
	return lines, nil
}

// A literal is a paragraph of a string, or the documentation of a field, with its position.
type literal struct{ place, text string }

var (
	// documented matches the documentation of a field in the field's tag.
	documented = regexp.MustCompile(`(?:doc|usage|jsonschema):"((?:[^"\\]|\\.)*)"`)
	// code matches strings that are for programs and not for people.
	code = regexp.MustCompile(`(?i)</?[a-z]+|\$\(|[{}]\s*$|;\s*\}|=>|^\s*(SELECT|INSERT|CREATE|UPDATE|DELETE|WITH|#!|set |bourse )|sans-serif|[a-z]+:[a-z]+=|\(\?[:i]|--[a-z-]+=.*--`)
	word = regexp.MustCompile(`[A-Za-z']{2,}`)
)

// literals returns the strings of a Go file that are prose. They have at least four words.
func literals(file string) ([]literal, error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var found []literal
	add := func(pos token.Pos, s string) {
		for paragraph := range strings.SplitSeq(s, "\n\n") {
			one := strings.Join(strings.Fields(paragraph), " ")
			if !code.MatchString(paragraph) && len(word.FindAllString(one, 4)) == 4 {
				found = append(found, literal{fmt.Sprintf("%s:%d", file, set.Position(pos).Line), one})
			}
		}
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			if n.Tag != nil {
				for _, m := range documented.FindAllStringSubmatch(n.Tag.Value, -1) {
					add(n.Tag.Pos(), m[1])
				}
			}
		case *ast.BinaryExpr:
			if s, ok := joined(n); ok {
				add(n.Pos(), s)
				return false
			}
		case *ast.BasicLit:
			if s, ok := joined(n); ok && !documented.MatchString(s) {
				add(n.Pos(), s)
			}
		}
		return true
	})
	return found, nil
}

// joined returns the value of a string literal or of a concatenation of string literals.
func joined(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if s, err := strconv.Unquote(e.Value); e.Kind == token.STRING && err == nil {
			return s, true
		}
	case *ast.BinaryExpr:
		x, left := joined(e.X)
		y, right := joined(e.Y)
		return x + y, e.Op == token.ADD && left && right
	}
	return "", false
}
