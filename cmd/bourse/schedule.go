package main

import (
	"fmt"
	"io"

	"bourse/experiments/catalog"
	"bourse/experiments/results"
	"bourse/workloadgen/swf"

	"github.com/urfave/cli/v2"
)

var scheduleCommand = command(`schedule RESULTS
write a run's schedule as a log

RESULTS is a directory written by 'bourse run'. The command prints one of its runs in the Standard
Workload Format, so that you can compare it with other schedules of the same log. Each job has its
submission time on the log's clock, its wait, and its time from start to end. The status is 1 if the
work was done (in time or late), 0 if the job was stopped before its work was done, and 5 if it was
rejected. A rejected job has no wait and no run time. All other fields, and the comments above the
records, are copied from the log. MaxJobs, MaxRecords and MaxProcs have the values of the run.

   bourse workload schedule results/easy > easy.swf
   bourse workload schedule results/mixed --run sp2/edf/0 --swf edf.swf`, scheduleAction)

type scheduleOptions struct {
	Run   string `doc:"use the run {CONFIGURATION/ADMISSION/REPLICATION} (default: the first replication, if there is only one policy)"`
	Trace string `doc:"read the log of the run from {FILE}"`
	SWF   string `doc:"write to {FILE}"`
}

func scheduleAction(c *cli.Context, o *scheduleOptions) error {
	dir, e, err := ran(c)
	if err != nil {
		return err
	}
	run, err := catalog.ChooseRun(&e, o.Run)
	if err != nil {
		return fmt.Errorf("--run: %w", err)
	}
	w := &run.Configuration.Workload
	log := new(swf.Trace)
	if file := orElse(o.Trace, w.SWF); file != "" {
		want, known := dir.Manifest.Inputs[w.SWF]
		if sum, err := results.HashFile(file); err == nil && known && sum != want {
			return fmt.Errorf("%s: found sha256 %s, want %s, the hash of %s in the results' manifest; give the original log with --trace", file, sum, want, w.SWF)
		}
		l, err := readLog(c, file, w.Filter)
		if err != nil {
			return err
		}
		log = l.Trace
	}
	schedule, err := run.Schedule(dir, log)
	if err != nil {
		return err
	}
	if file := o.SWF; file != "" {
		return writeFile(c, file, schedule.Write)
	}
	return buffered(c, c.App.Writer, func(w io.Writer) error { return schedule.Write(w) })
}
