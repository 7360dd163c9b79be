package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bourse/experiments"
	"bourse/experiments/catalog"
	"bourse/experiments/live"
	"bourse/experiments/scenario"

	"github.com/invopop/jsonschema"
	"github.com/urfave/cli/v2"
)

// TestReferences checks that the pages which are made of flags, schema and presets are
// what they would be made to now; -rewrite makes them.
func TestReferences(t *testing.T) {
	t.Parallel()
	for topic, text := range map[string]string{
		"commands": commandReference(newApp(nil, nil, nil)),
		"scenario": scenarioReference(experiments.ScenarioFile{}.JSONSchema()),
		"gallery":  gallery(t),

		"market-file": marketReference(live.Default()),
	} {
		file := filepath.Join("docs", topic+".md")
		if *rewrite {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != text {
			t.Errorf("docs/%s.md is not as it would be made, %v: go test ./cmd/bourse -run TestReferences -rewrite makes it", topic, err)
		}
	}
}

const commandsHead = `# Commands

` + "`bourse COMMAND --help`" + ` prints the same. Results go to standard output and all else to standard error; an argument
of ` + "`-`" + ` is standard input where a file is read. NO_COLOR is honoured.

Exit status:

- 0: done
- 1: failed, or refused by a bank or a market
- 2: wrong call or input. A name or value is unknown, a file or ledger is missing or of another kind, or an output exists already.
- 3: audit failed
- 4: incomplete
- 5: try again. A bank is busy, or its clock is wrong.
- 130: interrupted

` + "`--json`" + ` is for programs, in a version a command: a single object begins with it, for lists and lines it stands in
the schema (` + "`bourse scenario schema --json-of COMMAND`" + `); within a version fields are added, never removed, renamed or
retyped, and a list is never null.

` + "`bourse completion bash`" + `, zsh or fish prints what completes all of it in a shell, and ` + "`bourse man`" + ` is this page as a
man page.
`

// commandReference returns the page of all commands with their flags.
func commandReference(app *cli.App) string {
	var b bytes.Buffer
	b.WriteString(commandsHead)
	all := flagged("", app.Commands)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c := all[name]
		call := strings.TrimRight("bourse "+name+" "+c.ArgsUsage, " ")
		fmt.Fprintf(&b, "\n## bourse %s\n\n%s.\n\n```text\n%s\n", name, upper(c.Usage), call)
		if c.Description != "" {
			fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(c.Description))
		}
		b.WriteString("```\n")
		for i, f := range c.Flags {
			d := f.(cli.DocGenerationFlag)
			if i == 0 {
				b.WriteString("\n| flag | what |\n| --- | --- |\n")
			}
			value, usage := "", d.GetUsage()
			if parts := strings.SplitN(usage, "`", 3); len(parts) == 3 {
				value, usage = " "+parts[1], parts[0]+parts[1]+parts[2]
			} else if d.TakesValue() {
				value = " value"
			}
			if of := d.GetDefaultText(); d.TakesValue() && d.GetValue() != "" && of != "" && of != "0" && !strings.Contains(usage, "default") && steady(f) {
				usage += " (default: " + of + ")"
			}
			var called []string
			for _, n := range f.Names() {
				called = append(called, strings.Repeat("-", min(2, len(n)))+n)
			}
			fmt.Fprintf(&b, "| `%s%s` | %s |\n", strings.Join(called, ", "), value, cell(usage))
		}
	}
	return b.String()
}

// steady reports whether a flag's default is the same on every machine.
func steady(f cli.Flag) bool { return f.Names()[0] != "workers" }

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// cell returns text as a cell of a table.
func cell(s string) string { return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(s) }

const scenarioHead = `# Scenario files

A scenario is YAML (or JSON): what is common to all settings, the settings to compare, and how often to repeat them.
` + "`bourse scenario new`" + ` asks a few questions and writes one, ` + "`bourse scenario show paper`" + ` prints one whole,
` + "`bourse scenario check FILE`" + ` finds what is wrong, with line and field, and ` + "`bourse scenario schema`" + ` is for editors. A field
is overridden by ` + "`--set`" + `, with its path: ` + "`--set base.fleet.hosts=30`" + `. Twelve files to begin from, from ten lines to a
study, are in [experiments/examples](../../experiments/examples).

`

// scenarioReference returns the page of all fields and plug-ins.
func scenarioReference(root *jsonschema.Schema) string {
	var b bytes.Buffer
	b.WriteString(strings.ReplaceAll(scenarioHead, "../../experiments", "../../../experiments"))
	fieldTable(&b, "The file", root)
	for _, name := range slices.Sorted(maps.Keys(root.Definitions)) {
		if root.Definitions[name].Properties != nil && root.Definitions[name].Properties.Len() > 0 {
			fieldTable(&b, name, root.Definitions[name])
		}
	}
	b.WriteString("\n## Plug-ins\n\nA plug-in is written as its name, or as a mapping of `name` and its options; `bourse scenario options` prints the same.\n")
	family := ""
	for _, p := range catalog.Plugins("") {
		if p.Family != family {
			family = p.Family
			fmt.Fprintf(&b, "\n### family-%s\n\n| name | what, and options with their defaults |\n| --- | --- |\n", family)
		}
		text := cell(p.Doc)
		for _, o := range p.Options {
			text += fmt.Sprintf("<br>`%s`: %s (%s)", o.Name, cell(o.Doc), cell(fmt.Sprint(cmp.Or(o.Default, any("none")))))
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", p.Name, text)
	}
	return b.String()
}

const marketHead = `# market.yaml: the fields of a live market

` + "`bourse live start` and `bourse live serve` read `market.yaml` in the market's folder, and create it if it is missing. An omitted field has its default" + `.
The fields ` + "`name`, `number`, `market`, `admission` and `leaving`" + ` are fixed once the market has begun. Changes of the other fields take effect at the next start.
The plug-ins of ` + "`market` and `admission`" + ` and their options are described in [scenarios](scenario.md).

| field | default | what |
| --- | --- | --- |
`

// marketReference returns the page of the fields of market.yaml.
func marketReference(defaults live.Config) string {
	var b strings.Builder
	b.WriteString(marketHead)
	marketFields(&b, "", reflect.ValueOf(defaults))
	return b.String()
}

// marketFields writes a line a field of v, which is at path.
func marketFields(b *strings.Builder, path string, v reflect.Value) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == "" || name == "-" {
			continue
		}
		if choice, ok := v.Field(i).Interface().(scenario.Choice); ok {
			fmt.Fprintf(b, "| `%s` | `%s` | %s |\n", path+name, choice.Name, cell(f.Tag.Get("doc")))
			continue
		}
		if v.Field(i).Kind() == reflect.Struct {
			marketFields(b, path+name+".", v.Field(i))
			continue
		}
		is := ""
		if x := fmt.Sprint(v.Field(i).Interface()); x != "" && x != "<nil>" {
			is = "`" + x + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", path+name, is, cell(f.Tag.Get("doc")))
	}
}

// fieldTable prints the fields of an object.
func fieldTable(b *bytes.Buffer, name string, s *jsonschema.Schema) {
	fmt.Fprintf(b, "\n## %s\n\n| field | is | what |\n| --- | --- | --- |\n", name)
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", p.Key, cell(kind(p.Value)), cell(p.Value.Description))
	}
}

// kind says in words what may stand in a field.
func kind(s *jsonschema.Schema) string {
	switch {
	case s.Ref != "":
		name := strings.TrimPrefix(s.Ref, "#/$defs/")
		if name == "Options" || name == "Value" {
			return strings.ToLower(name)
		}
		return "[" + name + "](#" + strings.ToLower(name) + ")"
	case len(s.Enum) > 0:
		var words []string
		for _, e := range s.Enum {
			words = append(words, fmt.Sprint(e))
		}
		return strings.Join(words, ", ")
	case len(s.AnyOf) > 0:
		var kinds []string
		for _, one := range s.AnyOf {
			if k := kind(one); k != "null" {
				kinds = append(kinds, k)
			}
		}
		return strings.Join(kinds, " or ")
	case s.Items != nil:
		return "list of " + kind(s.Items)
	case s.Type == "object":
		return "mapping"
	}
	said := s.Type
	if s.Minimum != "" {
		said += ", from " + s.Minimum.String()
	}
	if s.ExclusiveMinimum != "" {
		said += ", more than " + s.ExclusiveMinimum.String()
	}
	if s.Maximum != "" {
		said += " to " + s.Maximum.String()
	}
	if s.ExclusiveMaximum != "" {
		said += ", less than " + s.ExclusiveMaximum.String()
	}
	return said
}
