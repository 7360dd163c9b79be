package main

import (
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

var (
	inPage  = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")
	inBlock = regexp.MustCompile(`(?m)(?:^ *|\| |do |\$\()bourse ([a-z][^|>;&()#\n]*)`)
	inLine  = regexp.MustCompile("[`']bourse ([^`']+)[`']")
)

// callsIn returns the commands of bourse that Markdown shows, without the first word.
func callsIn(page string) (calls []string) {
	for _, block := range inPage.FindAllStringSubmatch(page, -1) {
		if block[1] != "ini" {
			for _, call := range inBlock.FindAllStringSubmatch(strings.ReplaceAll(block[2], "\\\n", ""), -1) {
				calls = append(calls, call[1])
			}
		}
	}
	for _, call := range inLine.FindAllStringSubmatch(inPage.ReplaceAllString(page, ""), -1) {
		calls = append(calls, call[1])
	}
	return calls
}

// wrongCall tells what of a call the commands do not know, if anything.
func wrongCall(app *cli.App, call string) string {
	words := strings.Fields(call)
	at, commands := (*cli.Command)(nil), app.Commands
	for len(words) > 0 {
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(words[0]) })
		if i < 0 {
			break
		}
		at, commands, words = commands[i], commands[i].Subcommands, words[1:]
	}
	if at == nil {
		return "no such command"
	}
	for _, word := range words {
		if word == "--" {
			break
		}
		name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if !strings.HasPrefix(word, "--") || name == "help" {
			continue
		}
		if !slices.ContainsFunc(at.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) }) {
			return "it has no --" + name
		}
	}
	return ""
}

// TestDocs checks that the pages of the documentation, and --help, show commands that there
// are, with flags that they have, and pages that there are.
func TestDocs(t *testing.T) {
	t.Parallel()
	app := newApp(nil, io.Discard, io.Discard)
	texts := make(map[string]string)
	n := 0
	for _, p := range docPages() {
		if p.Title == "" || strings.Contains(p.Title, "\n") {
			t.Errorf("%s: title %q", p.Topic, p.Title)
		}
		texts["docs "+p.Topic] = p.Text
		for _, call := range callsIn(p.Text) {
			topic, ok := strings.CutPrefix(call, "docs ")
			if ok && !slices.ContainsFunc(docPages(), func(p docPage) bool { return p.Topic == topic }) {
				t.Errorf("docs %s: %s: no such page", p.Topic, call)
			}
		}
	}
	for name, c := range leaves("", app.Commands) {
		examples := regexp.MustCompile(`(?m)^   +(?:.*\\\n.*|.*)$`).FindAllString(c.Description, -1)
		rest := regexp.MustCompile(`(?m)^   +.*$`).ReplaceAllString(c.Description, "")
		texts[name+" --help"] = "```\n" + strings.Join(examples, "\n") + "\n```\n" + rest
	}
	for where, text := range texts {
		for _, call := range callsIn(text) {
			if n++; call != "transfer 1" && wrongCall(app, call) != "" { // that is the first line of an order
				t.Errorf("%s: bourse %s: %s", where, call, wrongCall(app, call))
			}
		}
	}
	if n < 150 {
		t.Errorf("%d commands were found", n)
	}
	if wrongCall(app, "bank mint --sum 3") == "" || wrongCall(app, "banc mint") == "" {
		t.Error("what is wrong is not found")
	}
}

// TestMetricsPage checks that the page on metrics has each that the dashboard and the rules
// use, which are all, each alert, and no others.
func TestMetricsPage(t *testing.T) {
	t.Parallel()
	const dir = "../../experiments/live/metrics/"
	var used strings.Builder
	for _, file := range []string{"dashboard.json", "rules.yaml"} {
		text, err := os.ReadFile(dir + file)
		if err != nil {
			t.Fatal(err)
		}
		used.Write(text)
	}
	page, err := docs.ReadFile("docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	for what, pattern := range map[string][2]string{
		"metric": {`(bourse_[a-z_]+?)(?:_bucket|_sum|_count)?[^a-z_]`, "`(bourse_[a-z_]+)[{`]"},
		"alert":  {`alert: (\w+)`, `(?m)^\| ([A-Z]\w+) \|`},
	} {
		found := func(pattern, text string) (names []string) {
			for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
				names = append(names, m[1])
			}
			slices.Sort(names)
			return slices.Compact(names)
		}
		want, got := found(pattern[0], used.String()), found(pattern[1], string(page))
		if len(want) < 8 || !slices.Equal(got, want) {
			t.Errorf("%ss of the page are %q, want %q", what, got, want)
		}
	}
}
