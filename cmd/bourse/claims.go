package main

import (
	"math/rand/v2"

	"bourse/experiments"
	"bourse/experiments/fitlab"
	"bourse/experiments/papers"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/experiments/study"
	"bourse/workloadgen/gof"

	"github.com/urfave/cli/v2"
)

var claimsCommand = command(`claims RESULTS...
test the papers' claims against results

The verdict of a claim is SUPPORTED, CONTRADICTED, UNDECIDED or NOT TESTABLE. Each claim states a
region for each of its numbers. A claim is supported if every interval lies inside its region. It is
contradicted if at least one interval lies completely outside its region. Otherwise it is undecided.
For an undecided claim, the command prints the number of replications that would decide it. Each
region has a margin with a source. The margin is the smallest difference that matters. The command
also prints the verdict at half the margin. If a claim states that one number is larger than
another, the command tests whether the difference is above 0. The command marks such a claim "equal"
if its interval lies within the margin, so that any difference is too small to matter. All intervals
of a paper's claims are simultaneous (Bonferroni, 95 %), and p values are corrected in the same way.

RESULTS may also be a folder that contains several results directories. Papers without results are
omitted unless --all is given. For some contradicted claims, the command also prints the verdict
under other interpretations of the paper. The exit status does not depend on the verdicts.

   bourse run --preset librarisk --trace LOG && bourse paper claims results/librarisk`, claimsAction)

type claimsOptions struct {
	json3Option[[]papers.Judged] `yaml:",inline"`
	All                          bool   `doc:"print the claims of all papers, including those without results"`
	Log                          string `doc:"also judge the claims about the log {FILE} (SDSC Blue Horizon, SWF)"`
	Over                         string `validate:"oneof=readings" doc:"run and judge registered {READINGS} of the market paper: readings"`
	Replications                 int    `alias:"n" default:"2000" validate:"min=2,max=1e6" doc:"with --over, run each preset {N} times"`
	noProgressOption             `yaml:",inline"`
	Brief                        bool `doc:"print one line per claim, without the numbers"`
}

func claimsAction(c *cli.Context, o *claimsOptions) error {
	if o.Over != "" {
		return claimsOver(c, o)
	}
	if c.NArg() == 0 && !o.All && o.Log == "" {
		return usagef("%s: RESULTS is missing; see '%s --help'", commandName(c), c.Command.HelpName)
	}
	var dirs []*results.Dir
	for _, path := range c.Args().Slice() {
		some, err := results.In(path)
		if err != nil {
			return err
		}
		dirs = append(dirs, some...)
	}
	log, err := measureRows(c, o.Log)
	if err != nil {
		return err
	}
	all, err := papers.Judge(dirs, o.All, log)
	if err != nil {
		return err
	}
	if len(all) == 0 && !o.JSON {
		note(c, "no paper makes claims about these results")
	}
	return show(c, papers.Document(all, terminal(c), o.Brief), nil)
}

// claimsOver tests the claims of the market paper under each registered reading.
func claimsOver(c *cli.Context, o *claimsOptions) error {
	if c.NArg() > 0 {
		return usagef("--over: found RESULTS, want no argument, because --over itself runs the presets")
	}
	log, err := measureRows(c, o.Log)
	if err != nil {
		return err
	}
	all, err := study.JudgeReadings(c.Context, experiments.Options{Progress: progress(c, "readings")}, o.Replications, logSeed, log)
	if err != nil {
		return err
	}
	return show(c, papers.OverReadings(all), nil)
}

// The claims about the log are tested with 60 replications of 500 pairs, because the claim
// about PolyLin was undecided with 20 replications (seed 2006).
const (
	logReplications = 60
	logPairs        = 500
	logSeed         = 2007
)

// measureRows measures the log of the market paper, which has the given name. If the name is
// empty, it returns no rows.
func measureRows(c *cli.Context, name string) ([]results.Metric, error) {
	if name == "" {
		return nil, nil
	}
	log, err := fitlab.ReadLog(name, "")
	if err != nil {
		return nil, err
	}
	b := gof.PaperBootstrap()
	b.Pairs = logPairs
	return log.Rows(c.Context, b, logReplications, func(replication int) fitlab.Stream {
		return func(name string) rand.Source { return scenario.Stream(logSeed, replication, name) }
	}, 0)
}
