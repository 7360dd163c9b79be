package main

import (
	"fmt"
	"io"
	"strconv"

	"bourse/experiments/fitlab"
	"bourse/experiments/misuse"
	"bourse/experiments/report"
	"bourse/experiments/scenario"
	"bourse/workloadgen"
	"bourse/workloadgen/swf"

	"github.com/urfave/cli/v2"
)

var generateCommand = command(`generate MODEL
draw a plan from a model

MODEL is a name ('bourse scenario options model') or a model file, as written by
'workload fit'. The command prints the plan as CSV, or writes it to files. The same
model, number of jobs and seed give the same plan. With --seed S --replication R, the
command draws the plan of replication R of an experiment with seed S.

   bourse workload generate paper > plan.csv
   bourse workload generate paper --options '{jobs: 100, value: normal}' --seed 3
   bourse workload generate lublin -n 10000 --swf lublin.swf`, generateAction)

type generateOptions struct {
	N             *int `shown:"as many as the model's options say" doc:"draw {N} jobs"`
	seedOption    `yaml:",inline"`
	Replication   int    `doc:"draw the plan of replication {R}, from 0"`
	Options       string `doc:"set the {OPTIONS} of the model, as a YAML mapping"`
	CSV           string `doc:"write the plan to {FILE}, with values and deadlines"`
	SWF           string `doc:"write the plan as a log to {FILE}, without values"`
	machineOption `yaml:",inline"`
	planOption    `yaml:",inline"`
}

func generateAction(c *cli.Context, o *generateOptions) error {
	if r := o.Replication; r < 0 {
		return usagef("--replication: found %d, want at least 0", r)
	}
	m, err := model(c, c.Args().First(), o.Options)
	if err != nil {
		return misuse.Of(err)
	}
	n := 0 // the number of jobs that the options specify
	if o.N != nil {
		if n = *o.N; n < 1 {
			return usagef("-n: found %d, want 1 or more", n)
		}
	}
	plan, err := m.Plan(scenario.Stream(o.Seed, o.Replication, "workload"), n, nil)
	if err != nil {
		return misuse.Of(err)
	}
	return writePlan(c, plan, nil)
}

type machineOption struct {
	Processors int64 `validate:"min=0,max=1e9" doc:"write {N}, the number of processors of the machine, as MaxProcs in the log's header"`
}

type planOption struct {
	JSON bool `doc:"print the result as JSON"`
}

func (planOption) prints() report.Output {
	o := report.JSON[workloadgen.Plan]()
	o.Compact = true
	return o
}

// writePlan writes plan to the files named on the command line. If it names none, the plan is
// printed as CSV or, on request, as JSON. If log is nil, writePlan creates the log from the
// plan.
func writePlan(c *cli.Context, plan workloadgen.Plan, log *swf.Trace) error {
	processors := c.Int64("processors")
	if processors < 0 || processors > 1e9 {
		return usagef("--processors: found %d, want 0 to 1000000000", processors)
	}
	if processors > 0 && c.String("swf") == "" {
		return usagef("--processors: found no --swf FILE, want one, because a plan does not state the size of a machine")
	}
	if c.Bool("json") {
		if err := printJSON(c, plan); err != nil {
			return err
		}
	} else if c.String("csv") == "" && c.String("swf") == "" {
		return buffered(c, c.App.Writer, func(w io.Writer) error { return workloadgen.WriteCSV(w, plan) })
	}
	if name := c.String("csv"); name != "" {
		if err := writeFile(c, name, func(w io.Writer) error { return workloadgen.WriteCSV(w, plan) }); err != nil {
			return err
		}
	}
	if name := c.String("swf"); name != "" {
		switch {
		case log == nil && processors == 0:
			note(c, "%s: the header has no MaxProcs; state the size of the machine with --processors N", name)
			fallthrough
		case log == nil:
			log = swf.FromPlan(plan, processors)
		case processors > 0:
			log.Header = log.Header.With("MaxProcs", strconv.FormatInt(processors, 10))
		}
		return writeFile(c, name, log.Write)
	}
	return nil
}

var filtersCommand = command(`filters
list the filters of logs

Separate filters by commas; they are applied from left to right.

   bourse workload filters
   bourse workload describe KTH.swf.gz --filter last:3000,ran`, func(c *cli.Context, _ *filtersOptions) error {
	text := ""
	for _, f := range swf.Filters() {
		text += fmt.Sprintf("%-14s %s\n", f.Filter, f.Doc)
	}
	return show(c, report.Said(text, swf.Filters()), nil)
})

type filtersOptions struct {
	jsonOption[[]swf.Kept] `yaml:",inline"`
}

var convertCommand = command(`convert FILE
turn a log into a plan, or a plan into a log

A file whose name ends in .csv is a plan; any other file is a log. With --from, FILE is the output
of sacct (-P or --json), a file in the Grid Workload Format, or a Batsim workload. The command
reports the numbers of used, repaired and skipped lines on standard error. If a log is converted to
a log, the header and all 18 fields of the records are copied. This includes records of partial
executions and of jobs that never ran. MaxJobs and MaxRecords then count the records that pass the
filter. With --memory request, the used memory replaces an unknown request. With --memory used, the
request replaces an unknown used memory.

   bourse workload convert KTH.swf.gz --filter ran,last:3000 --csv plan.csv
   bourse workload convert KTH.swf.gz --memory request --csv plan.csv
   bourse workload convert KTH.swf.gz --filter last:3000 --swf last.swf
   bourse workload convert plan.csv --swf plan.swf --processors 128
   bourse workload convert jobs.txt --from sacct --swf jobs.swf --processors 128`, func(c *cli.Context, o *convertOptions) error {
	name, filter := c.Args().First(), o.Filter
	isPlan := o.From == "" && fitlab.IsPlan(name)
	if isPlan && filter != "" {
		return usagef("--filter: %s is a plan, want a log", name)
	}
	if isPlan && o.Memory != "" {
		return usagef("--memory: %s is a plan, want a log", name)
	}
	file, err := await(c.Context, func() (*fitlab.Log, error) { return fitlab.ReadLogAs(name, o.From, filter) })
	if err != nil {
		return err
	}
	plan, told := file.Plan(swf.Memory(o.Memory))
	if !isPlan && len(file.Trace.Records) == 0 {
		return misuse.Errorf("%s: found no records, want at least one", name)
	}
	for _, line := range told {
		note(c, "%s", line)
	}
	if isPlan {
		return writePlan(c, plan, nil)
	}
	return writePlan(c, plan, file.Copy())
})

type convertOptions struct {
	filterOption  `yaml:",inline"`
	From          string `validate:"oneof=sacct gwf batsim" shown:"a log, or a plan if it ends in .csv" doc:"read a file in this {FORMAT}: sacct, gwf or batsim"`
	Memory        string `validate:"oneof=none request used" shown:"none" doc:"read the memory of a node from the log's {FIELD}: none, request or used"`
	CSV           string `doc:"write a plan to {FILE}"`
	SWF           string `doc:"write a log to {FILE}"`
	machineOption `yaml:",inline"`
	planOption    `yaml:",inline"`
	Quiet         bool `alias:"q" doc:"do not report repaired or skipped lines"`
}
