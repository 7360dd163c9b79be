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
	"bourse/workloadgen/config"

	"github.com/invopop/jsonschema"
	"github.com/urfave/cli/v2"
)

// TestReferences checks that the pages generated from flags, schemas and presets are up to
// date. With -rewrite, it generates them.
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

` + "`bourse COMMAND --help`" + ` prints the text of one command. Results go to standard output, and all other output goes to standard error. If a
command reads a file, the argument ` + "`-`" + ` means standard input. Commands respect NO_COLOR.

Exit statuses:

- 0: success
- 1: failure, or a refusal by a bank or a market
- 2: wrong usage or input. A name or value is unknown, a file or ledger is missing or of the wrong kind, or an output exists already.
- 3: the audit failed
- 4: the result is incomplete
- 5: try again. A bank is busy, or its clock is wrong.
- 130: interrupted

` + "`--json`" + ` prints output for programs. The format of each command has a version. If the output is one object, the object contains
the version; if it is a list or lines, the schema (` + "`bourse scenario schema --json-of COMMAND`" + `) contains it. Within a version, fields
are added, but never removed, renamed or retyped. A list is never null.

` + "`bourse completion bash`" + ` (or zsh, or fish) prints a script for shell completion. ` + "`bourse man`" + ` prints this page as a man page.

## Shared flags

Several commands have these flags, with the same meaning:

`

// commandReference returns the page with all commands and their flags. A flag shared by
// several commands is described once at the top. Commands with the same text are described
// once.
func commandReference(app *cli.App) string {
	var b bytes.Buffer
	b.WriteString(commandsHead)
	all := flagged("", app.Commands)
	names := slices.Sorted(maps.Keys(all))
	uses, most := map[string]int{}, map[string]string{} // uses: number of commands with each text; most: the most frequent text of each flag
	described := map[string]string{}                    // command that describes each text
	anonymous := func(name string) string { return strings.ReplaceAll(all[name].Description, name, "") }
	for _, name := range names {
		for _, f := range all[name].Flags {
			line := flagText(f)
			uses[line]++
			if flag := f.Names()[0]; uses[line] > uses[most[flag]] || most[flag] == "" {
				most[flag] = line
			}
		}
		if !strings.HasPrefix(name, "show ") {
			described[anonymous(name)] = name
		}
	}
	shared := func(f cli.Flag) bool {
		line := flagText(f)
		return uses[line] > 2 && most[f.Names()[0]] == line
	}
	for _, line := range slices.Sorted(maps.Values(most)) {
		if uses[line] > 2 {
			fmt.Fprintf(&b, "- %s\n", line)
		}
	}
	for _, name := range names {
		c := all[name]
		call := strings.TrimRight("bourse "+name+" "+c.ArgsUsage, " ")
		fmt.Fprintf(&b, "\n## bourse %s\n\n%s.\n\n```text\n%s\n", name, upper(c.Usage), call)
		same := described[anonymous(name)]
		if own := same == name || same == "" || c.Description == ""; own {
			if c.Description != "" {
				fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(c.Description))
			}
			b.WriteString("```\n")
		} else {
			fmt.Fprintf(&b, "```\n\nSee [`bourse %s`](#bourse-%s), which is the same command.\n", same, strings.ReplaceAll(same, " ", "-"))
			continue
		}
		var others []string
		for i, f := range c.Flags {
			if i == 0 {
				b.WriteString("\n")
			}
			if shared(f) {
				others = append(others, "`--"+f.Names()[0]+"`")
			} else {
				fmt.Fprintf(&b, "- %s\n", flagText(f))
			}
		}
		if others != nil {
			fmt.Fprintf(&b, "- [shared](#shared-flags): %s\n", strings.Join(others, ", "))
		}
	}
	return b.String()
}

// flagText describes a flag in one line with its names, its value, its effect and its
// default.
func flagText(f cli.Flag) string {
	d := f.(cli.DocGenerationFlag)
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
	return fmt.Sprintf("`%s%s`: %s", strings.Join(called, ", "), value, strings.NewReplacer("\n", " ", "<", "&lt;").Replace(usage))
}

// steady reports whether a flag's default is the same on every machine.
func steady(f cli.Flag) bool { return f.Names()[0] != "workers" }

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// cell formats text as a table cell.
func cell(s string) string { return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(s) }

const scenarioHead = `# Scenario files

A scenario is a YAML (or JSON) file. It contains the common settings, the configurations to compare, and the number of
replications. These commands help to write one:

- ` + "`bourse scenario new`" + ` asks a few questions and writes a scenario.
- ` + "`bourse scenario show paper`" + ` prints a complete scenario.
- ` + "`bourse scenario check FILE`" + ` reports mistakes with line and field.
- ` + "`bourse scenario schema`" + ` prints the JSON Schema for editors.

` + "`--set`" + ` overrides a field by its path, as in ` + "`--set base.fleet.hosts=30`" + `. The directory
[experiments/examples](../../experiments/examples) has twelve files to start from, from ten lines to a full study.

`

// scenarioReference returns the page with all fields and plug-ins.
func scenarioReference(root *jsonschema.Schema) string {
	var b bytes.Buffer
	b.WriteString(strings.ReplaceAll(scenarioHead, "../../experiments", "../../../experiments"))
	fieldTable(&b, "The file", root)
	for _, name := range slices.Sorted(maps.Keys(root.Definitions)) {
		if root.Definitions[name].Properties != nil && root.Definitions[name].Properties.Len() > 0 {
			fieldTable(&b, name, root.Definitions[name])
		}
	}
	b.WriteString("\n## Plug-ins\n\nWrite a plug-in as its name, or as a mapping that contains `name` and its options. `bourse scenario options` prints the same list. Options that several plug-ins of a family share are listed once, after the family.\n")
	families := map[string][]catalog.Plugin{}
	for _, p := range catalog.Plugins("") {
		families[p.Family] = append(families[p.Family], p)
	}
	family := ""
	for _, p := range catalog.Plugins("") {
		if p.Family != family {
			family = p.Family
			familyTable(&b, families[family])
		}
	}
	return b.String()
}

// familyTable prints the plug-ins of a family with their options. Options that several plug-ins
// describe with the same words are listed in a separate table at the end.
func familyTable(b *bytes.Buffer, plugins []catalog.Plugin) {
	fmt.Fprintf(b, "\n### family-%s\n\n| name | description, and options with their defaults |\n| --- | --- |\n", plugins[0].Family)
	owners := map[string]string{} // names of the plug-ins that have an option, keyed by the option's text
	option := func(o config.Option) string {
		return fmt.Sprintf("`%s`: %s (%s)", o.Name, cell(o.Doc), cell(fmt.Sprint(cmp.Or(o.Default, any("none")))))
	}
	for _, p := range plugins {
		for _, o := range p.Options {
			owners[option(o)] += ", `" + p.Name + "`"
		}
	}
	var groups []string
	shared := map[string][]string{}
	for _, p := range plugins {
		text := cell(p.Doc)
		for _, o := range p.Options {
			line := option(o)
			names := strings.TrimPrefix(owners[line], ", ")
			if !strings.Contains(names, ",") {
				text += "<br>" + line
				continue
			}
			if shared[names] == nil {
				groups = append(groups, names)
			}
			if !slices.Contains(shared[names], line) {
				shared[names] = append(shared[names], line)
			}
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", p.Name, text)
	}
	for i, names := range groups {
		if i == 0 {
			b.WriteString("\n| shared by | options |\n| --- | --- |\n")
		}
		fmt.Fprintf(b, "| %s | %s |\n", names, strings.Join(shared[names], "<br>"))
	}
}

const marketHead = `# market.yaml: the fields of a live market

` + "`bourse live start` and `bourse live serve` read `market.yaml` in the market's folder, and create it if it is missing. An omitted field has its default" + `.
Once the market has begun, only these fields may change: ` + "`listen`, `bank`, `bank_pin`, `limits`, `keep` and `link`, except `link.patience`" + `. Changes take effect at the next start.
[Scenarios](scenario.md) describes the plug-ins of ` + "`market` and `admission`" + `, and their options.

| field | default | what |
| --- | --- | --- |
`

// marketReference returns the page with the fields of market.yaml.
func marketReference(defaults live.Config) string {
	var b strings.Builder
	b.WriteString(marketHead)
	marketFields(&b, "", reflect.ValueOf(defaults))
	return b.String()
}

// marketFields writes one line per field of v. The path of v in the file is path.
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

// kind describes the possible values of a field in words.
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
