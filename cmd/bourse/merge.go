package main

import (
	"errors"
	"fmt"

	"bourse/experiments/publication"
	"bourse/experiments/results"
	"bourse/experiments/scenario"

	"github.com/urfave/cli/v2"
)

var mergeCommand = command(`merge DIR...
merge the shards of a run

The command merges directories that 'bourse run --shard' wrote, on one machine or several, into one
results directory. Except for the wall time, the merged results equal the results of a single run.
If units are missing from all directories, the command names them, writes nothing, and exits with
status 4.

   bourse run mine.yaml --shard 1/2 --out one
   bourse run mine.yaml --shard 2/2 --out two
   bourse run merge one two --out results/mine`, mergeAction)

type mergeOptions struct {
	Out                             string `alias:"o" doc:"write results to {DIR} (default: results/NAME, with the scenario's name)"`
	output[publication.StudyValues] `yaml:",inline"`
}

func mergeAction(c *cli.Context, o *mergeOptions) error {
	elapsed := stopwatch()
	if c.NArg() == 0 {
		return usagef("merge: found no directory, want directories written by 'bourse run --shard'")
	}
	var all []*results.Units
	for _, dir := range c.Args().Slice() {
		u, err := results.ReadUnits(dir)
		if err != nil {
			return err
		}
		all = append(all, u)
		if first := all[0]; !first.Plan.Same(&u.Plan) || first.Plan.Replications != u.Plan.Replications {
			return usagef("%s and %s belong to different runs: %s", first.Dir, dir, publication.Difference(&first.Plan, &u.Plan))
		}
	}
	plan := &all[0].Plan
	e, err := scenario.Stored(all[0].Dir, plan.Scenario)
	if err != nil {
		return err
	}
	t, err := results.ParseTables(plan.Tables)
	if err != nil {
		return fmt.Errorf("%s: tables: %w", all[0].Dir, err)
	}
	dir := orElse(o.Out, "results", e.Name)
	s, err := publication.Merge(&e, all, publication.Target{
		Dir: dir, Scenario: plan.Scenario, Notes: stands(&e), Elapsed: elapsed, Tables: t,
	})
	var holes *publication.HolesError
	if errors.As(err, &holes) {
		return incomplete{err}
	}
	if err != nil {
		return err
	}
	return published(c, s, dir, elapsed, false)
}
