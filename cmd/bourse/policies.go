package main

import (
	"bourse/experiments"
	"bourse/experiments/catalog"
	"bourse/workloadgen/plugin"

	"github.com/urfave/cli/v2"
)

// familyNames returns the names of the families of plug-ins.
func familyNames() []string {
	var names []string
	for _, f := range experiments.Families() {
		names = append(names, f.Name)
	}
	return names
}

var policiesCommand = command(`options [NAME]
list plug-ins, or print the options of a plug-in

Without NAME, prints one line per plug-in, family by family. NAME is a family, whose
plug-ins are listed, or a plug-in, whose options are printed with their defaults.

   bourse scenario options
   bourse scenario options metric
   bourse scenario options sac --json`, func(c *cli.Context, _ *policiesOptions) error {
	name := c.Args().First()
	all := catalog.Plugins(name)
	if len(all) == 0 {
		names := familyNames()
		for _, p := range catalog.Plugins("") {
			names = append(names, p.Name)
			if p.Name == name {
				all = append(all, p)
			}
		}
		if len(all) == 0 {
			near := plugin.Nearest(name, names)
			if near != "" {
				near = ", did you mean " + near + "?"
			}
			return usagef("NAME: found %q%s; 'bourse scenario options' lists all", name, near)
		}
		return show(c, catalog.ListPlugins(all, terminal(c), true), nil)
	}
	return show(c, catalog.ListPlugins(all, terminal(c), false), nil)
})

type policiesOptions struct {
	jsonOption[[]catalog.Plugin] `yaml:",inline"`
}
