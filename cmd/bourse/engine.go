package main

import (
	"bufio"
	"strconv"

	"bourse/experiments/cluster"
	"bourse/experiments/misuse"
	"bourse/hosts/engine"

	"github.com/urfave/cli/v2"
)

var engineCommand = command(`engine FILE
run a workload file on simulated hosts only

The first line of the file (plain or gzip) contains the numbers of hosts and jobs. Each following
line describes one job: its arrival (s), number of hosts, work on each host (CPU s) and bid on each
host. Job j runs on the hosts (j*7919 + k*104729) mod hosts, for k from 0. The command prints one
completion time per job, in job order. It uses the same simulated hosts as an experiment, but
without admission, deadlines or money. With --json, it prints the speed of the simulation instead:
events, CPU seconds, and events per CPU second.

The simulation handles arrivals and completions of tasks as events. For each event, it
makes one pass over the tasks of the host. With few tasks per host (load 0.85), one core processes 3
to 7 million events per second. It processes about 1 million with 100 tasks per host, and about 0.1
million with 1,000.

   bourse engine workload.txt.gz --capacity 2 --cap 1
   bourse engine workload.txt.gz --json`, engineAction)

type engineOptions struct {
	Capacity          float64 `default:"1" doc:"simulate {N} processors per host"`
	Cap               float64 `doc:"limit each task to {N} processors; 0 means no limit"`
	Ordered           bool    `doc:"process the completions on all hosts in one common order, as a market does"`
	jsonOption[speed] `yaml:",inline"`
}

// A speed reports how fast the simulated hosts process events.
type speed struct {
	Events          int64   `json:"events" doc:"number of arrivals and completions of tasks"`
	CPUSeconds      float64 `json:"cpu_seconds"`
	EventsPerSecond float64 `json:"events_per_cpu_second"`
}

func engineAction(c *cli.Context, o *engineOptions) error {
	name := c.Args().First()
	f, err := open(c, name)
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := engine.ReadWorkload(name, f)
	if err != nil {
		return misuse.Of(err)
	}
	var e engine.Engine
	run := e.Run
	if o.Ordered {
		run = e.RunInOrder
	}
	before := cluster.ProcessorTime()
	r, err := run(w, o.Capacity, o.Cap)
	if err != nil {
		return misuse.Of(err)
	}
	if o.JSON {
		used := (cluster.ProcessorTime() - before).Seconds()
		return printJSON(c, speed{r.Events, used, float64(r.Events) / max(used, 1e-9)})
	}
	out := bufio.NewWriter(c.App.Writer)
	var line []byte
	for _, at := range r.End {
		line = strconv.AppendFloat(line[:0], at, 'f', -1, 64)
		line = append(line, '\n')
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}
