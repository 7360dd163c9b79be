package main

import (
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/experiments/whatif"

	"github.com/urfave/cli/v2"
)

var explainCommand = command(`explain [RESULTS]
explain the decision on a job and what would change it

Runs a run of RESULTS again to the instant at which the job was submitted. Prints what it
asked for, what the policy looked at and which test decided; the least change of each of
its terms (budget, deadline, nodes, a later submission, class) with which the same policy
would have decided otherwise in the same state; and what would then have become of it and of
all others, with its externality: what the work of all others is worth without it (§4.2,
eq. 9, at --alpha), less what it is worth with it, its Clarke price. Of an accepted job it
prints how far it was from being refused, and the same externality.

A contract of a live market is a job of the run of what 'bourse live export' writes.

   bourse explain results/paper --run pareto-high/cac/0 --job 7
   bourse explain results/paper --run pareto-high/cac/0 --job 7 --out why --json`, explainAction)

type explainOptions struct {
	Run                             string  `doc:"explain the run {CONFIGURATION/ADMISSION/REPLICATION} (default: the first replication, if there is one policy)"`
	Job                             int64   `shown:"none" doc:"explain job {N}"`
	Alpha                           float64 `default:"1" doc:"inelasticity of users, {A}, from 0 (half of the work is worth half) to 1 (all or nothing)"`
	Most                            int     `default:"5" doc:"print the {N} largest gains and losses of others"`
	Frontier                        bool    `doc:"find the least budget that would have been accepted, by deadline"`
	Out                             string  `alias:"o" doc:"write the figure to {DIR}"`
	quietOption                     `yaml:",inline"`
	json2Option[whatif.Explanation] `yaml:",inline"`
}

func explainAction(c *cli.Context, o *explainOptions) error {
	if !c.IsSet("job") {
		return usagef("--job: want the number of a job")
	}
	dir, err := results.Open(c.Args().First())
	if err != nil {
		return err
	}
	if err := dir.Unchanged(); err != nil {
		return err
	}
	e, err := scenario.Stored(dir.Path, dir.Manifest.Scenario)
	if err != nil {
		return err
	}
	e = e.Expanded()
	out := o.Out
	r, err := whatif.Explain(c.Context, &e, dir.Manifest.Inputs, o.Run, o.Job, o.Alpha, o.Frontier || out != "")
	if err != nil {
		return err
	}
	return showWithFigure(c, *r, r.Text(max(0, o.Most)), r.Figure)
}
