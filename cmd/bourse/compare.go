package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"bourse/experiments/fitlab"
	"bourse/experiments/misuse"
	"bourse/experiments/scenario"
	"bourse/workloadgen/describe"
	"bourse/workloadgen/models"

	"github.com/urfave/cli/v2"
)

var compareCommand = command(`compare A B
test whether two workloads are alike: KS and Q-Q

A and B are logs, plans (.csv), model files (.yaml) or names of models. If A or B is a model, the
command draws jobs from it. It compares the gaps between arrivals, the runtimes and the sizes with
two-sample Kolmogorov-Smirnov tests. It plots the quantiles of B against those of A.

   bourse workload compare KTH.swf.gz plan.csv
   bourse workload compare lublin.swf lublin --options '{size: 256}' --jobs 10000
   bourse workload compare SDSC-BLUE.swf.gz blue.yaml --seed 3 --out compared`, compareAction)

type compareOptions struct {
	filterOption            `yaml:",inline"`
	Jobs                    int `shown:"as many as the other has" doc:"draw {N} jobs from a model"`
	seedOption              `yaml:",inline"`
	Options                 string `doc:"set the {OPTIONS} of a named model, as a YAML mapping"`
	Out                     string `alias:"o" doc:"write the Q-Q figure to {DIR}"`
	output[fitlab.Compared] `yaml:",inline"`
}

func compareAction(c *cli.Context, o *compareOptions) error {
	if n := o.Jobs; c.IsSet("jobs") && (n < 1 || n > 1e8) {
		return usagef("--jobs: found %d, want 1 to 100000000", n)
	}
	logs, err := readBoth(c, c.Args().Slice())
	if err != nil {
		return err
	}
	d, err := fitlab.Compare([2]string{filepath.Base(c.Args().Get(0)), filepath.Base(c.Args().Get(1))}, logs)
	if err != nil {
		return err
	}
	return showOut(c, o.Out, "", d, d.Figures...)
}

// readBoth measures two workloads. Models are generated last, with the same number of jobs as
// the other workload. If both workloads are models, the second uses a different replication.
func readBoth(c *cli.Context, names []string) (logs [2]*describe.Log, err error) {
	jobs := c.Int("jobs")
	for i, name := range names {
		file, err := readSide(c, name, c.String("filter"))
		if err != nil {
			return logs, err
		}
		if file == nil {
			continue
		}
		tell(c, file)
		logs[i] = describe.Describe(file.Trace)
		if c.Int("jobs") == 0 {
			jobs = logs[i].Ran
		}
	}
	replication := 0
	for i, name := range names {
		if logs[i] != nil {
			continue
		}
		m, err := model(c, name, c.String("options"))
		if err != nil {
			return logs, misuse.Of(err)
		}
		plan, err := m.Plan(scenario.Stream(c.Uint64("seed"), replication, "workload"), jobs, nil)
		if err != nil {
			return logs, misuse.Of(fmt.Errorf("%s: %w", name, err))
		}
		replication++
		note(c, "%s: %d jobs drawn", name, len(plan))
		logs[i] = describe.Describe(fitlab.PlanLog(plan))
	}
	return logs, nil
}

// readSide reads a log or a plan. It returns nil if the name belongs to a model.
func readSide(c *cli.Context, name, filter string) (*fitlab.Log, error) {
	if ext := filepath.Ext(name); ext == ".yaml" || ext == ".yml" {
		return nil, nil
	}
	file, err := readLog(c, name, filter)
	if errors.Is(err, fs.ErrNotExist) {
		if slices.Contains(models.Table().Names(), name) {
			return nil, nil
		}
		return nil, usagef("%w, and found no model of that name: %v", err, models.Table().Names())
	}
	return file, err
}
