package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bourse/experiments"
	"bourse/experiments/catalog"
	"bourse/experiments/papers"
	"bourse/experiments/scenario"

	"github.com/invopop/jsonschema"
	"github.com/urfave/cli/v2"
)

var (
	inPage  = regexp.MustCompile("(?ms)^```([a-z]*)[^\n]*\n(.*?)^```$")
	inBlock = regexp.MustCompile(`(?m)(?:^ *|\| |do |\$\()bourse ([a-z][^|>;&()#\n]*)`)
	inLine  = regexp.MustCompile("[`']bourse ([^`']+)[`']")
)

// callsIn returns the bourse commands in a Markdown text, without the first word.
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

// wrongCall describes the first unknown part of a call, if any.
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

// TestDocs checks the commands in the README, the documentation pages and --help. The
// commands, their flags, presets and pages must exist.
func TestDocs(t *testing.T) {
	t.Parallel()
	app := newApp(nil, io.Discard, io.Discard)
	texts := pages(t)
	for name, c := range leaves("", app.Commands) {
		examples := regexp.MustCompile(`(?m)^   +(?:.*\\\n.*|.*)$`).FindAllString(c.Description, -1)
		rest := regexp.MustCompile(`(?m)^   +.*$`).ReplaceAllString(c.Description, "")
		texts[name+" --help"] = "```\n" + strings.Join(examples, "\n") + "\n```\n" + rest
	}
	n := 0
	for where, text := range texts {
		for _, call := range callsIn(text) {
			n++
			if call == "transfer 1" || call == "order 1" || call == "--version" || strings.HasPrefix(call, "COMMAND ") { // these are the first line of an order, a flag of the program and a placeholder
				continue
			}
			if wrongCall(app, call) != "" {
				t.Errorf("%s: bourse %s: %s", where, call, wrongCall(app, call))
			}
			if problem := wrongName(call); problem != "" {
				t.Errorf("%s: bourse %s: %s", where, call, problem)
			}
		}
	}
	if n < 300 {
		t.Errorf("%d commands were found", n)
	}
	if wrongCall(app, "bank mint --sum 3") == "" || wrongCall(app, "banc mint") == "" || wrongName("docs hosst") == "" || wrongName("run --preset papr") == "" {
		t.Error("what is wrong is not found")
	}
}

// wrongName returns the preset or page in a call that does not exist, if any.
func wrongName(call string) string {
	topic := func(p docPage) string { return p.Topic }
	for _, names := range []struct {
		after string
		known []string
	}{
		{`(?:^|\s)--preset[ =]`, papers.Names()},
		{`^docs `, each(docPages(), topic)},
		{`^scenario options `, pluginNames()},
		{`--metric[ =]`, experiments.NamesOf("metric")},
	} {
		found := regexp.MustCompile(names.after + `([a-z][\w.-]*)`).FindStringSubmatch(call)
		if found != nil && !slices.Contains(names.known, found[1]) {
			return found[1] + ": there is none"
		}
	}
	return ""
}

// pluginNames returns the names of all plug-ins and of their families.
func pluginNames() []string {
	names := familyNames()
	for _, p := range catalog.Plugins("") {
		names = append(names, p.Name)
	}
	return names
}

func each[T, U any](all []T, f func(T) U) (out []U) {
	for _, x := range all {
		out = append(out, f(x))
	}
	return out
}

// TestPagesListed checks that docs/README.md lists every page once and that each page has a
// title.
func TestPagesListed(t *testing.T) {
	t.Parallel()
	files, err := docs.ReadDir("docs")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, p := range docPages() {
		if seen[p.Topic] || p.Title == "" || p.Group == "" || !strings.HasPrefix(p.Text, "# "+p.Title) {
			t.Errorf("docs/README.md lists %s, of title %q in group %q", p.Topic, p.Title, p.Group)
		}
		seen[p.Topic] = true
	}
	if len(seen) != len(files)-1 {
		for _, f := range files {
			if topic := strings.TrimSuffix(f.Name(), ".md"); !seen[topic] && topic != "README" {
				t.Errorf("docs/README.md does not list %s", topic)
			}
		}
	}
}

var (
	inlineFlag  = regexp.MustCompile("`(--[a-z][a-z-]*)")
	inlineField = regexp.MustCompile("`((?:base|fleet|workload|market|sla|provider|needs|figure|sweep|configurations)\\.[a-z_.0-9]+)[`:=]")
	inlineName  = regexp.MustCompile("`((?:librarisk|librasla|reservations|volunteers)-[a-z0-9-]+)`")
)

// TestPagesTrue checks the README and the pages. All flags, fields, presets, files and
// sections in them must exist, and all scenarios must be valid.
func TestPagesTrue(t *testing.T) {
	t.Parallel()
	flags := make(map[string]bool)
	for _, c := range flagged("", newApp(nil, nil, nil).Commands) {
		for _, f := range c.Flags {
			for _, name := range f.Names() {
				flags["--"+name] = true
			}
		}
	}
	known := scenarioFields(experiments.ScenarioFile{}.JSONSchema())
	texts := pages(t)
	n := map[string]int{}
	for name, text := range texts {
		for _, b := range blocksIn(text) {
			data := strings.Join(b.lines, "\n")
			if !b.is("yaml") || !strings.Contains(data, "configurations:") {
				continue
			}
			n["scenarios"]++
			if strings.Contains(data, "name: frugal,") { // TestPlugged runs this scenario
				continue
			}
			if _, err := scenario.Parse(fmt.Sprintf("%s:%d", name, b.at), []byte(data), experiments.Known()); err != nil {
				t.Error(err)
			}
		}
		prose := inPage.ReplaceAllString(text, "")
		for _, m := range inlineFlag.FindAllStringSubmatch(prose, -1) {
			page := strings.HasSuffix(name, "docs/jobs.md") || strings.HasSuffix(name, "docs/slurm.md") || strings.HasSuffix(name, "docs/resources.md")
			directive := page && slices.Contains([]string{"--mem", "--mem-per-cpu", "--export", "--no-requeue", "--nodelist", "--gres", "--gpus-per-node", "--signal"}, m[1]) // flag of sbatch
			if n["flags"]++; !flags[m[1]] && !directive && m[1] != "--help" && m[1] != "--list" {                                                                             // flag of a script in .ci/nightly
				t.Errorf("%s: no command has %s", name, m[1])
			}
		}
		for _, m := range inlineField.FindAllStringSubmatch(prose, -1) {
			field := strings.TrimPrefix(m[1], "base.")
			if strings.HasSuffix(field, ".yaml") || strings.HasSuffix(field, ".json") { // the name of a file
				continue
			}
			if n["fields"]++; !known[field[strings.LastIndex(field, ".")+1:]] {
				t.Errorf("%s: no scenario has %s", name, m[1])
			}
		}
		for _, m := range inlineName.FindAllStringSubmatch(prose, -1) {
			if n["presets"]++; !slices.Contains(papers.Names(), m[1]) {
				t.Errorf("%s: there is no preset %s", name, m[1])
			}
		}
		for _, link := range pageLink.FindAllStringSubmatch(prose, -1) {
			if n["links"]++; deadLink(name, link[2], texts) {
				t.Errorf("%s: [%s](%s) leads nowhere", name, link[1], link[2])
			}
		}
	}
	for what, least := range map[string]int{"scenarios": 4, "flags": 30, "fields": 2, "presets": 10, "links": 100} {
		if n[what] < least {
			t.Errorf("%d %s were found", n[what], what)
		}
	}
}

// deadLink reports whether a link on the named page leads to nothing in the source tree.
func deadLink(name, link string, texts map[string]string) bool {
	if strings.HasPrefix(link, "https://") {
		return false
	}
	file, section, _ := strings.Cut(link, "#")
	to := path.Join(path.Dir(name), file)
	if file == "" {
		to = name
	}
	if _, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(to))); err != nil {
		return true
	}
	if section == "" {
		return false
	}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(texts[to], -1) {
		if strings.ReplaceAll(regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(heading[1]), ""), " ", "-") == section {
			return false
		}
	}
	return true
}

// flagged returns the commands that perform an action or have flags, keyed by their words.
func flagged(before string, commands []*cli.Command) map[string]*cli.Command {
	found := make(map[string]*cli.Command)
	for _, c := range commands {
		if len(c.Subcommands) == 0 || len(c.Flags) > 0 {
			found[before+c.Name] = c
		}
		maps.Copy(found, flagged(before+c.Name+" ", c.Subcommands))
	}
	return found
}

// scenarioFields returns the names of all scenario fields and of all options.
func scenarioFields(root *jsonschema.Schema) map[string]bool {
	found := make(map[string]bool)
	for _, s := range append(slices.Collect(maps.Values(root.Definitions)), root) {
		if s.Properties != nil {
			for p := s.Properties.Oldest(); p != nil; p = p.Next() {
				found[p.Key] = true
			}
		}
	}
	for _, p := range catalog.Plugins("") {
		for _, o := range p.Options {
			for part := range strings.SplitSeq(o.Name, ".") {
				found[part] = true
			}
		}
	}
	return found
}

// TestMetricsPage checks that the page on metrics describes exactly the metrics used by the
// dashboard and the rules, and exactly the alerts.
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
