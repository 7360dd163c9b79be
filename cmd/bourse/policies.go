package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"bourse/experiments"
	"bourse/experiments/report"
	"bourse/workloadgen/plugin"

	"github.com/urfave/cli/v2"
)

// familyNames returns the names of the families.
func familyNames() []string {
	var names []string
	for _, f := range experiments.Families() {
		names = append(names, f.Name)
	}
	return names
}

// A member is one plug-in of a family, as users see it.
type member struct {
	Family  string          `json:"family"`
	Name    string          `json:"name"`
	Doc     string          `json:"doc"`
	Options []plugin.Option `json:"options"`
}

// plugins returns every plug-in of the program, or those of one family.
func plugins(only string) []member {
	var all []member
	for _, f := range experiments.Families() {
		if only != "" && f.Name != only {
			continue
		}
		for _, name := range f.Names() {
			all = append(all, member{f.Name, name, f.Doc(name), f.Options(name)})
		}
	}
	return all
}

func policiesCommand() *cli.Command {
	return &cli.Command{
		Name:      "policies",
		Usage:     "list every plug-in with its options",
		ArgsUsage: "[FAMILY]",
		Description: `Families are admission, bidding, sharing, payment, forecaster, model, value, law (of
the quantities of model independent), availability (models of hosts that come and
go), predictor (of them), scheduler (the matchmakers of admission queue), matchmaking (of
admission reserve), leaving (what becomes of tasks on a host that leaves) and metric.

   bourse policies
   bourse policies admission --json`,
		Flags:  []cli.Flag{jsonFlag[[]member]()},
		Action: policiesAction,
	}
}

func policiesAction(c *cli.Context) error {
	if err := between(c, 0, 1, "FAMILY"); err != nil {
		return err
	}
	all := plugins(c.Args().First())
	if len(all) == 0 {
		return usagef("found %q, want a family: %s", c.Args().First(), strings.Join(familyNames(), ", "))
	}
	family, text := "", ""
	for _, p := range all {
		if p.Family != family {
			family = p.Family
			text += family + "\n"
		}
		text += fmt.Sprintf("  %-24s %s\n", p.Name, p.Doc)
		for _, o := range p.Options {
			text += fmt.Sprintf("    %-22s %s%s (%s)\n", o.Name, o.Doc, limits(o), written(o.Default))
		}
	}
	return show(c, report.Said(text, all), nil)
}

// limits says what an option may be, unless its line names all the words.
func limits(o plugin.Option) string {
	words := plugin.RuleOf(o.Rule).OneOf
	told := words != nil && !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(o.Doc, word) })
	if o.Rule == "" || told {
		return ""
	}
	return "; " + o.Want
}

// written returns a default as people read it.
func written(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case string:
		return cmp.Or(v, "none")
	case map[string]any:
		parts := make([]string, 0, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, key+": "+written(v[key]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	if s := fmt.Sprint(v); s != "[]" {
		return s
	}
	return "none"
}
