package main

import (
	"bourse/experiments/papers"
	"bourse/experiments/report"
	"bourse/experiments/results"

	"github.com/urfave/cli/v2"
)

func claimsCommand() *cli.Command {
	return &cli.Command{
		Name:      "claims",
		Usage:     "judge what the papers say by results",
		ArgsUsage: "RESULTS...",
		Description: `Each claim of a paper comes out SUPPORTED, CONTRADICTED, UNDECIDED or NOT TESTABLE, by
where the intervals of its numbers lie: inside the region that its sentence names,
one wholly outside of it, or neither; then it says how many replications would
decide it. Regions have a margin, the smallest difference that matters, whose source
is named; the verdict at half of it is beside. A direction is held against 0, and is
"equal" where its interval lies within the margin: no difference that matters is
left. Intervals hold together for all claims of the paper (Bonferroni, 95 %), and p
values are corrected as they are.

A directory of results directories stands for all of them. Papers that the results
do not touch are left out, without --all. Some that are contradicted by our results
say what comes of them under other options. The exit status is 0 whatever the
verdicts.

   bourse run --preset librarisk --trace LOG && bourse claims results/librarisk`,
		Flags: []cli.Flag{
			outputFlag(claimsJSON()),
			&cli.BoolFlag{Name: "all", Usage: "show the claims of all papers, of which there are no results too"},
			&cli.BoolFlag{Name: "brief", Usage: "print a line a claim, without the numbers"},
		},
		Action: claimsAction,
	}
}

// claimsJSON is the second version: the first had PASS and FAIL.
func claimsJSON() report.Output {
	o := report.JSON[[]papers.Judged]()
	o.Version = 2
	return o
}

func claimsAction(c *cli.Context) error {
	if c.NArg() == 0 && !c.Bool("all") {
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
	all, err := papers.Judge(dirs, c.Bool("all"))
	if err != nil {
		return err
	}
	if len(all) == 0 && !c.Bool("json") {
		note(c, "no paper claims anything about these results")
	}
	return show(c, papers.Document(all, terminal(c), c.Bool("brief")), nil)
}
