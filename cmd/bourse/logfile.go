package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"bourse/workloadgen"
	"bourse/workloadgen/describe"
	"bourse/workloadgen/swf"
)

// A logFile is a log as a command reads it: the records that passed the filters,
// and what became of the others.
type logFile struct {
	name  string
	trace *swf.Trace // its accounting is of the whole file
	steps []swf.Step // what each filter did
	plan  bool       // it was a plan, all of whose jobs are records
}

// readLog reads the records of a log that pass the filters. A plan is read as
// the log that it would be written as, of a machine whose size is not known.
func readLog(c *cli.Context, name, filter string) (*logFile, error) {
	filters, err := swf.ParseFilters(filter)
	if err != nil {
		return nil, usageError{err}
	}
	l := &logFile{name: name, plan: isPlan(name)}
	if l.plan {
		plan, err := readPlan(c, name)
		if err != nil {
			return nil, err
		}
		l.trace = planLog(plan)
	} else if l.trace, err = await(c.Context, func() (*swf.Trace, error) { return swf.ReadFile(name) }); err != nil {
		return nil, err
	}
	if l.trace, l.steps, err = l.trace.Apply(filters...); err != nil {
		return nil, usageError{fmt.Errorf("%s: %w", name, err)}
	}
	return l, nil
}

// measureLog reads the log that c names, says what became of its lines, and measures
// it for that purpose.
func measureLog(c *cli.Context, purpose string) (*logFile, *describe.Log, error) {
	file, err := readLog(c, c.Args().First(), c.String("filter"))
	if err != nil {
		return nil, nil, err
	}
	for _, line := range file.told() {
		note(c, "%s", line)
	}
	log := describe.Describe(file.trace)
	return file, log, file.suffices(log, purpose)
}

// suffices refuses a log that is too short for the purpose.
func (l *logFile) suffices(log *describe.Log, purpose string) error {
	if log.Records < 2 || log.Ran == 0 {
		return usagef("%s: %d records, of which %d ran: too few to %s", l.name, log.Records, log.Ran, purpose)
	}
	return nil
}

// planLog returns a plan as a log without the size of a machine.
func planLog(plan workloadgen.Plan) *swf.Trace {
	t := swf.FromPlan(plan)
	t.Header = nil
	t.Accounting = swf.Accounting{Lines: len(plan), Used: len(plan)}
	return t
}

// isPlan tells a plan from a log by its name.
func isPlan(name string) bool { return strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".csv") }

func readPlan(c *cli.Context, name string) (workloadgen.Plan, error) {
	f, err := open(c, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	plan, err := workloadgen.ReadCSV(f, name)
	if err != nil {
		return nil, usageError{err}
	}
	return plan, nil
}

// told says what became of the lines of the file, and of its records.
func (l *logFile) told() []string {
	lines := []string{l.name + ": " + strings.TrimSpace(l.trace.Accounting.String())}
	if l.plan {
		lines[0] = fmt.Sprintf("%s: %d jobs of a plan", l.name, l.trace.Accounting.Lines)
	}
	for _, s := range l.steps {
		lines = append(lines, s.String())
	}
	return lines
}

// base returns the name of the file without its directory.
func (l *logFile) base() string { return filepath.Base(l.name) }
