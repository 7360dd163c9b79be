package main

import (
	"slices"
	"strings"

	"bourse/experiments"
	"bourse/experiments/scenario"
	"bourse/experiments/whatif"

	"github.com/urfave/cli/v2"
)

var replayCommand = command(`replay RESULTS
repeat a run under another policy, and compare each job

RESULTS is a directory written by 'bourse run'. The command repeats one of its runs, and then runs
the same jobs and hosts under another policy, or with another value of a field. It prints the owners
of jobs that gain or lose from the change. A gain is the change in the job's value to its owner
(§4.2, eq. 9, at --alpha), minus the payment, plus penalties received.

   bourse study replay results/paper --run pareto-high/be/0 --admission cac
   bourse study replay results/paper --run pareto-high/cac/3 --admission '{name: cac, guarantee: 0.99}' --alpha 0.5 --out drawn
   bourse study replay results/paper --run pareto-high/be/0 --set market.payment=bid --json`, func(c *cli.Context, o *replayOptions) error {
	dir, e, err := ran(c)
	if err != nil {
		return err
	}
	var sets []string
	if name := o.Admission; name != "" {
		if names := experiments.NamesOf("admission"); !strings.ContainsAny(name, "{:") && !slices.Contains(names, name) {
			return usagef("--admission: %s", scenario.Unknown(name, names))
		}
		sets = append(sets, "admission="+name)
	}
	r, err := whatif.Replay(c.Context, &e, dir.Manifest.Inputs, o.Run, o.Alpha, append(sets, o.Set...)...)
	if err != nil {
		return err
	}
	return showWithFigure(c, *r, r.Text(max(0, o.Most)), r.Figure)
})

type replayOptions struct {
	Admission                   string   `doc:"use {POLICY}, from 'bourse scenario options admission'"`
	Set                         []string `doc:"override a field: {PATH=VALUE}"`
	Most                        int      `default:"10" doc:"print the {N} largest gains and losses"`
	Out                         string   `alias:"o" doc:"write a figure of the owners' gains to {DIR}"`
	quietOption                 `yaml:",inline"`
	jsonOption[whatif.Replayed] `yaml:",inline"`
	Run                         string  `doc:"use the run {CONFIGURATION/ADMISSION/REPLICATION} (default: the first replication, if there is only one policy)"`
	Alpha                       float64 `default:"1" doc:"assume users of inelasticity {A}, from 0 (elastic) to 1 (all or nothing)"`
}
