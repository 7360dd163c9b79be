package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/workloadgen/swf"

	"github.com/urfave/cli/v2"
)

func scheduleCommand() *cli.Command {
	return &cli.Command{
		Name:      "schedule",
		Usage:     "write when a run started and ended its jobs, as a log",
		ArgsUsage: "RESULTS",
		Description: `RESULTS is a directory that 'bourse run' wrote. Prints one of its runs in the
Standard Workload Format, so that it can be laid beside what other schedulers make
of the same log: of every job its submission in the run, its wait, and its time
from start to end. Status is 1 if its work was done, in time or late, 0 if it was
cut off, and 5 if it was turned away; such a job has no wait and no run time. All
else, the comments above the records too, is as in the log that was run.

   bourse workload schedule results/easy > easy.swf
   bourse workload schedule results/mixed --run sp2/edf/0 --swf edf.swf`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "run", Usage: "take the run `CONFIGURATION/ADMISSION/REPLICATION` (default: the first replication, where there is one policy)"},
			&cli.StringFlag{Name: "trace", Usage: "the log that was run is in `FILE` now"},
			&cli.StringFlag{Name: "swf", Usage: "write to `FILE`"},
		},
		Action: scheduleAction,
	}
}

func scheduleAction(c *cli.Context) error {
	if err := exactly(c, "RESULTS"); err != nil {
		return err
	}
	dir, err := openResults(c.Args().First())
	if err != nil {
		return err
	}
	e, err := experimentOf(dir)
	if err != nil {
		return err
	}
	e = e.Expanded()
	run, err := chooseRun(&e, c.String("run"))
	if err != nil {
		return err
	}
	w := &run.configuration.Workload
	log := new(swf.Trace)
	if file := orElse(c.String("trace"), w.SWF); file != "" {
		l, err := readLog(c, file, w.Filter)
		if err != nil {
			return err
		}
		log = l.trace
	}
	slots, err := run.slots(dir)
	if err != nil {
		return err
	}
	schedule := log.Schedule(slots, "as run by bourse: "+run.String(),
		"submit, wait, run, allocated processors and status are of that run; submit counts from its first job")
	if file := c.String("swf"); file != "" {
		return writeFile(c, file, schedule.Write)
	}
	return buffered(c, c.App.Writer, func(w io.Writer) error { return schedule.Write(w) })
}

// A chosen is one run of an experiment.
type chosen struct {
	configuration *scenario.Configuration
	admission     string
	replication   int
}

// String returns its path as ledgers have it.
func (r chosen) String() string {
	return fmt.Sprintf("%s/%s/%d", r.configuration.Name, r.admission, r.replication)
}

// chooseRun returns the run of that path, or the first if there is one policy.
func chooseRun(e *scenario.Experiment, path string) (chosen, error) {
	var names []string
	for i := range e.Configurations {
		conf := &e.Configurations[i]
		for _, a := range conf.Admission {
			name := conf.Name + "/" + a.Label
			names = append(names, name+"/0")
			rep, ok := strings.CutPrefix(path, name+"/")
			if n, err := strconv.Atoi(rep); ok && err == nil && n >= 0 && n < e.Replications {
				return chosen{conf, a.Label, n}, nil
			}
		}
	}
	if path == "" && len(names) == 1 {
		return chosen{&e.Configurations[0], e.Configurations[0].Admission[0].Label, 0}, nil
	}
	most := min(8, len(names))
	more := ""
	if most < len(names) {
		more = fmt.Sprintf(" and %d more", len(names)-most)
	}
	return chosen{}, usagef("--run: found %q, want one of %s%s; replications are 0 to %d",
		path, strings.Join(names[:most], ", "), more, e.Replications-1)
}

// slots returns when the jobs of r ran, by number.
func (r chosen) slots(dir *results.Dir) (map[int64]swf.Slot, error) {
	slots := make(map[int64]swf.Slot)
	goesOn := r.configuration.SLA.RunsOn || r.configuration.SLA.Deadline == "soft"
	for j, err := range dir.Jobs() {
		if err != nil {
			return nil, err
		}
		if j.Configuration != r.configuration.Name || j.Admission != r.admission || j.Replication != r.replication {
			continue
		}
		id, err := strconv.ParseInt(j.Job, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("jobs.parquet: job %q: want a number", j.Job)
		}
		user, err := strconv.ParseInt(j.User, 10, 64)
		if err != nil {
			user = swf.Unknown
		}
		s := swf.Slot{Submit: j.Arrival, Nodes: j.Nodes, User: user}
		if j.Start != nil && j.End != nil {
			s.Started, s.Start, s.End = true, *j.Start, *j.End
			s.Completed = *j.Fulfilled || goesOn && (j.Losses == nil || *j.Losses == 0)
		}
		slots[id] = s
	}
	return slots, nil
}
