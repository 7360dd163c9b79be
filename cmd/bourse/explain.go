package main

import (
	"bourse/experiments/whatif"

	"github.com/urfave/cli/v2"
)

var explainCommand = command(`explain [RESULTS]
explain a decision, and find changes that would reverse it

The command repeats a run of RESULTS up to the submission of the job. It prints the request, the
numbers that the policy used, and the test that determined the decision. For each term (budget,
deadline, nodes, submission time, class), it then prints the smallest change that would have
reversed the decision. Finally, it shows the outcome of the job and of all other jobs after that
change. The externality is the value of all other users' work without the job (§4.2, eq. 9, at
--alpha), minus its value with the job. It is also called the Clarke price. For an accepted job, the
command prints the margin by which the job was accepted, and the externality of the job.

To explain a contract of a live market, run the scenario that 'bourse live export'
writes; each contract is a job in that run.

   bourse explain results/paper --run pareto-high/cac/0 --job 7
   bourse explain results/paper --run pareto-high/cac/0 --job 7 --out why --json`, explainAction)

type explainOptions struct {
	Run                             string  `doc:"explain the run {CONFIGURATION/ADMISSION/REPLICATION} (default: the first replication, if there is only one policy)"`
	Job                             int64   `shown:"none" doc:"explain job {N}"`
	Alpha                           float64 `default:"1" doc:"assume users of inelasticity {A}, from 0 (elastic) to 1 (all or nothing)"`
	Most                            int     `default:"5" doc:"print the {N} largest gains and losses of other users"`
	Frontier                        bool    `doc:"find the lowest accepted budget for each of several deadlines"`
	Out                             string  `alias:"o" doc:"write the figure to {DIR}"`
	quietOption                     `yaml:",inline"`
	json2Option[whatif.Explanation] `yaml:",inline"`
}

func explainAction(c *cli.Context, o *explainOptions) error {
	if !c.IsSet("job") {
		return usagef("--job: found none, want a job number")
	}
	dir, e, err := ran(c)
	if err != nil {
		return err
	}
	out := o.Out
	r, err := whatif.Explain(c.Context, &e, dir.Manifest.Inputs, o.Run, o.Job, o.Alpha, o.Frontier || out != "")
	if err != nil {
		return err
	}
	return showWithFigure(c, *r, r.Text(max(0, o.Most)), r.Figure)
}
