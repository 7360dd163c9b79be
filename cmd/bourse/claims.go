package main

import (
	"bourse/experiments/papers"
	"bourse/experiments/results"

	"github.com/urfave/cli/v2"
)

func claimsCommand() *cli.Command {
	return &cli.Command{
		Name:      "claims",
		Usage:     "judge what the papers say by results",
		ArgsUsage: "RESULTS...",
		Description: `Each claim of a paper comes out PASS, FAIL or NOT TESTABLE, with the numbers that
decide it, their 95 % intervals, the number of replications, and a p value,
corrected (Holm) over the claims of the paper. The verdict looks at means alone.
A directory of results directories stands for all of them. Papers that the
results do not touch are left out. Some that fail by our results say what comes of
them under other options. The exit status is 0 whatever the verdicts.

   bourse run --preset librarisk --trace LOG && bourse claims results/librarisk`,
		Flags: []cli.Flag{
			jsonFlag[[]papers.Judged](),
			&cli.BoolFlag{Name: "brief", Usage: "print a line a claim, without the numbers"},
		},
		Action: claimsAction,
	}
}

func claimsAction(c *cli.Context) error {
	if c.NArg() == 0 {
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
	all, err := papers.Judge(dirs)
	if err != nil {
		return err
	}
	if len(all) == 0 && !c.Bool("json") {
		note(c, "no paper claims anything about these results")
	}
	return show(c, papers.Document(all, terminal(c), c.Bool("brief")), nil)
}
