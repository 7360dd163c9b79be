package fitlab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"bourse/experiments/misuse"
	"bourse/workloadgen"
	"bourse/workloadgen/describe"
	"bourse/workloadgen/swf"
)

// A Log is a log as people name it: the records that passed the filters, and what
// became of the others.
type Log struct {
	Name  string
	Trace *swf.Trace // its accounting is of the whole file

	steps  []swf.Step       // what each filter did
	isPlan bool             // it was a plan, all of whose jobs are records
	jobs   workloadgen.Plan // of the plan
}

// ReadLog reads the records of a log that pass the filters. A plan is read as the log that it
// would be written as, of a machine whose size is not known.
func ReadLog(name, filter string) (*Log, error) { return ReadLogAs(name, "", filter) }

// ReadLogAs is [ReadLog] for a file in one of [swf.Formats]; an empty format is a log or a plan.
func ReadLogAs(name, format, filter string) (*Log, error) {
	filters, err := swf.ParseFilters(filter)
	if err != nil {
		return nil, misuse.Of(err)
	}
	l := &Log{Name: name, isPlan: format == "" && IsPlan(name)}
	if format != "" {
		l.Trace, err = swf.ReadAs(name, format)
	} else if !l.isPlan {
		l.Trace, err = swf.ReadFile(name)
	} else if l.jobs, err = workloadgen.ReadFile(name); err == nil {
		l.Trace = PlanLog(l.jobs)
	}
	if err != nil && !errors.As(err, new(*os.PathError)) { // the file is not what it should be
		err = misuse.Of(err)
	}
	if err != nil {
		return nil, err
	}
	if l.Trace, l.steps, err = l.Trace.Apply(filters...); err != nil {
		return nil, misuse.Errorf("%s: %w", name, err)
	}
	return l, nil
}

// Measure describes the log in numbers, if there is enough of it for the purpose.
func (l *Log) Measure(purpose string) (*describe.Log, error) {
	log := describe.Describe(l.Trace)
	if log.Records < 2 || log.Ran == 0 {
		return nil, misuse.Errorf("%s: %d records, of which %d ran: too few to %s", l.Name, log.Records, log.Ran, purpose)
	}
	return log, nil
}

// PlanLog returns a plan as a log without the size of a machine.
func PlanLog(plan workloadgen.Plan) *swf.Trace {
	t := swf.FromPlan(plan, 0)
	t.Header = nil
	t.Accounting = swf.Accounting{Lines: len(plan), Used: len(plan)}
	return t
}

// IsPlan tells a plan from a log by its name.
func IsPlan(name string) bool { return strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".csv") }

// Told says what became of the lines of the file, and of its records.
func (l *Log) Told() []string {
	lines := []string{l.Name + ": " + strings.TrimSpace(l.Trace.Accounting.String())}
	if l.isPlan {
		lines[0] = fmt.Sprintf("%s: %d jobs of a plan", l.Name, l.Trace.Accounting.Lines)
	}
	for _, s := range l.steps {
		lines = append(lines, s.String())
	}
	for _, wrong := range l.Trace.Header.Problems() {
		lines = append(lines, l.Name+": header: "+wrong)
	}
	return lines
}

// Plan returns the jobs of the log with their memory from m, and tells what became of its lines
// if it was none.
func (l *Log) Plan(m swf.Memory) (workloadgen.Plan, []string) {
	if l.isPlan {
		return l.jobs, nil
	}
	plan, acc := l.Trace.Plan(m)
	return plan, append(l.Told(), "as a plan: "+strings.TrimSpace(acc.String()))
}

// Copy returns the records of the log as they stand, with a header that agrees with them.
func (l *Log) Copy() *swf.Trace {
	t := *l.Trace
	for _, s := range l.steps {
		if s.Out < s.In {
			t.Header = append(t.Header.Without("EndTime"), "; Note: "+s.String())
		}
	}
	t.Header = t.Header.Agree(t.Records)
	return &t
}

// base returns the name of the file without its directory.
func (l *Log) base() string { return filepath.Base(l.Name) }
