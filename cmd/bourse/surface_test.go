package main

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bourse/experiments/catalog"
	"bourse/experiments/papers"

	"github.com/urfave/cli/v2"
)

var rewriteSurface = flag.Bool("surface", false, "write testdata/surface.txt anew")

// TestSurface checks that no command, option, plug-in or preset disappears silently.
// Everything in testdata/surface.txt must exist, or the CHANGELOG must contain its last
// word between backquotes. New items must be listed.
func TestSurface(t *testing.T) {
	t.Parallel()
	got := surface(t)
	list := filepath.Join("testdata", "surface.txt")
	if *rewriteSurface {
		if err := os.WriteFile(list, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	changes, err := os.ReadFile(filepath.Join("..", "..", "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	listed := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range listed {
		last := line[strings.LastIndex(line, " ")+1:]
		line = renamed(line)
		if _, found := slices.BinarySearch(got, line); !found && !strings.Contains(string(changes), "`"+last+"`") {
			t.Errorf("%s is gone, and the CHANGELOG does not say so", line)
		}
	}
	for _, line := range got {
		if !slices.Contains(listed, line) {
			t.Errorf("%s is not in %s: -surface writes it", line, list)
		}
	}
}

// renamed returns a line with the current name of its command.
func renamed(line string) string {
	words := strings.Fields(line)
	if words[0] != "bourse" || len(words) < 2 {
		return line
	}
	if now, _, err := today(words); err == nil && (words[1] != "live" || len(words) > 2 && words[2][0] == '-') {
		words = slices.DeleteFunc(now, func(w string) bool { return w == "--list" && now[len(now)-1] != w })
	}
	return strings.Join(words, " ")
}

// surface returns every command with its options, every plug-in with its options, and every
// preset.
func surface(t *testing.T) (all []string) {
	var walk func(path string, commands []*cli.Command)
	walk = func(path string, commands []*cli.Command) {
		for _, c := range commands {
			name := path + " " + c.Name
			all = append(all, name)
			for _, f := range c.Flags {
				all = append(all, name+" --"+f.Names()[0])
			}
			walk(name, c.Subcommands)
		}
	}
	walk("bourse", newApp(nil, nil, nil).Commands)
	for _, p := range catalog.Plugins("") {
		all = append(all, p.Family+" "+p.Name)
		for _, o := range p.Options {
			all = append(all, p.Family+" "+p.Name+" "+o.Name)
		}
	}
	for _, name := range papers.Names() {
		all = append(all, "preset "+name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestRelease checks that the program reports the first version in the CHANGELOG.
func TestRelease(t *testing.T) {
	t.Parallel()
	changes, err := os.ReadFile(filepath.Join("..", "..", "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, first, _ := strings.Cut(string(changes), "\n## ")
	first, _, _ = strings.Cut(first, "\n")
	if said := version(); !strings.HasPrefix(said, first+", ") {
		t.Errorf("version is %q, and the CHANGELOG begins with %s", said, first)
	}
}
