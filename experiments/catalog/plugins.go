// Package catalog lists what users can choose: plug-ins with their options, presets, the
// questions for a new scenario, and the runs of an experiment. It also reports which settings
// of a scenario have no effect.
//
// The package is independent of how a run is executed.
package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"bourse/experiments"
	"bourse/experiments/report"
	"bourse/workloadgen/config"
)

// A Plugin describes a plug-in of a family to users.
type Plugin struct {
	Family  string          `json:"family"`
	Name    string          `json:"name"`
	Doc     string          `json:"doc"`
	Options []config.Option `json:"options"`
}

// Plugins returns every plug-in of the family named by only. If only is empty, it returns
// the plug-ins of all families.
func Plugins(only string) []Plugin {
	var all []Plugin
	for _, f := range experiments.Families() {
		if only != "" && f.Name != only {
			continue
		}
		for _, name := range f.Names() {
			all = append(all, Plugin{f.Name, name, f.Doc(name), config.Options(f, name)})
		}
	}
	return all
}

// ListPlugins returns a list of plug-ins by family, formatted for t. It has one line for each
// plug-in or, if options is set, the complete description with options.
func ListPlugins(all []Plugin, t report.Terminal, options bool) report.Document {
	family, text := "", ""
	for _, p := range all {
		if p.Family != family {
			family = p.Family
			text += family + "\n"
		}
		if !options {
			short := t
			short.Width = max(0, t.Width-4)
			line, _, more := strings.Cut(short.Hang(fmt.Sprintf("  %-24s ", p.Name), p.Doc), "\n")
			if text += line; more {
				text += " ..."
			}
			text += "\n"
			continue
		}
		text += t.Hang(fmt.Sprintf("  %-24s ", p.Name), p.Doc) + "\n"
		for _, o := range p.Options {
			text += t.Hang(fmt.Sprintf("    %-22s ", o.Name), fmt.Sprintf("%s%s (%s)", o.Doc, limits(o), written(o.Default))) + "\n"
		}
	}
	return report.Said(text, all)
}

// limits describes the valid values of an option. It returns an empty string if the
// description of the option already lists every value.
func limits(o config.Option) string {
	words := config.RuleOf(o.Rule).OneOf
	told := words != nil && !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(o.Doc, word) })
	if o.Rule == "" || told {
		return ""
	}
	return "; " + o.Want
}

// written formats a default value for people.
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
