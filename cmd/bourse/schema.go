package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"bourse/bank/export"
	"bourse/bank/store"
	"bourse/experiments/report"
	"bourse/experiments/scenario"

	"github.com/urfave/cli/v2"
)

func schemaCommand() *cli.Command {
	return &cli.Command{
		Name:      "schema",
		Usage:     "print the JSON Schema of what a command prints for programs",
		ArgsUsage: "[WORD]...",
		Description: `Without --json-of, lists the commands that have one: those with --json, and those that
print JSON lines, of which the schema is that of a line. Every single object begins
with its version, as the schema does; within a version fields are added, and none is
taken away or given another type.

   bourse schema
   bourse schema --json-of run > run.schema.json
   bourse schema --json-of ledger audit`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "json-of", Usage: "print the schema of `COMMAND`, which may be of two words"},
		},
		Action: schemaAction,
	}
}

func schemaAction(c *cli.Context) error {
	all := outputs(c.App.Commands)
	names := slices.Sorted(maps.Keys(all))
	if !c.IsSet("json-of") {
		if err := between(c, 0, 0); err != nil {
			return err
		}
		_, err := fmt.Fprintln(c.App.Writer, strings.Join(names, "\n"))
		return err
	}
	name := strings.Join(append([]string{c.String("json-of")}, c.Args().Slice()...), " ")
	o, ok := all[name]
	if !ok {
		near := scenario.Nearest(name, names)
		if near != "" {
			near = "; did you mean " + near + "?"
		}
		return usagef("--json-of: found %q, want a command that 'bourse schema' lists%s", name, near)
	}
	return report.WriteJSON(c.App.Writer, o.Schema(name))
}

// outputs returns what each of the commands prints for programs, by the words that call it.
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

// nextWords returns the words that may follow those of --json-of.
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
