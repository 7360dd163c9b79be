package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"bourse/bank/export"
	"bourse/bank/store"
	"bourse/experiments"
	"bourse/experiments/report"
	"bourse/workloadgen/plugin"

	"github.com/urfave/cli/v2"
)

var schemaCommand = command(`schema [WORD]...
print the JSON Schema of scenario files, or of a command

With --json-of, it prints the schema of the --json output of a command, or of one line
of that output. Each object begins with its version, and so does the schema. Within a
version, fields are added, but none is removed or changes its type.

   bourse scenario schema > bourse.schema.json
   bourse scenario schema --list
   bourse scenario schema --json-of run > run.schema.json
   bourse scenario schema --json-of ledger audit`, schemaAction)

type schemaOptions struct {
	JSONOf string `yaml:"json-of" doc:"print the schema of the JSON output of {COMMAND}, such as ledger audit"`
	List   bool   `doc:"list the commands that have a schema"`
}

func schemaAction(c *cli.Context, o *schemaOptions) error {
	all := outputs(c.App.Commands)
	names := slices.Sorted(maps.Keys(all))
	if !c.IsSet("json-of") {
		if err := between(c, 0, 0); err != nil {
			return err
		}
		if !o.List {
			return report.WriteJSON(c.App.Writer, experiments.ScenarioFile{}.JSONSchema())
		}
		_, err := fmt.Fprintln(c.App.Writer, strings.Join(names, "\n"))
		return err
	}
	name := strings.Join(append([]string{o.JSONOf}, c.Args().Slice()...), " ")
	if now, ok := moved[name]; ok {
		name = now
	}
	is, ok := all[name]
	if !ok {
		near := plugin.Nearest(name, names)
		if near != "" {
			near = "; did you mean " + near + "?"
		}
		return usagef("--json-of: found %q, want a command of 'bourse scenario schema --list'%s", name, near)
	}
	return report.WriteJSON(c.App.Writer, is.Schema(name))
}

// outputs returns the JSON output types, keyed by command.
func outputs(commands []*cli.Command) map[string]report.Output {
	found := map[string]report.Output{
		"bank apply": report.JSONLines[store.Outcome](),
		"bank log":   report.JSONLines[export.Line](),
	}
	var add func(before string, commands []*cli.Command)
	add = func(before string, commands []*cli.Command) {
		for _, c := range commands {
			if o, ok := printsJSON(c); ok {
				found[before+c.Name] = o
			}
			add(before+c.Name+" ", c.Subcommands)
		}
	}
	add("", commands)
	return found
}

// nextWords returns the words that may follow the given words in --json-of.
func nextWords(commands []*cli.Command, before []string) []string {
	var next []string
	for name := range outputs(commands) {
		if rest, ok := strings.CutPrefix(name+" ", strings.Join(append(before, ""), " ")); ok && rest != "" {
			word, _, _ := strings.Cut(rest, " ")
			next = append(next, word)
		}
	}
	slices.Sort(next)
	return slices.Compact(next)
}
