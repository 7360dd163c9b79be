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

// A Log is a job log with its name. It contains the records that passed the filters, and
// describes how the others were treated.
type Log struct {
	Name  string
	Trace *swf.Trace // records that passed the filters; the counts cover the whole file

	steps  []swf.Step       // effect of each filter
	isPlan bool             // whether the file is a plan; all its jobs are then records
	jobs   workloadgen.Plan // jobs of the plan
}

// ReadLog reads the records of a log and keeps those that pass the filters. A plan is
// converted to a log of a machine of unknown size.
func ReadLog(name, filter string) (*Log, error) { return ReadLogAs(name, "", filter) }

// ReadLogAs is like [ReadLog], but the file has one of the formats in [swf.Formats]. An
// empty format means a log or a plan.
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
	if err != nil && !errors.As(err, new(*os.PathError)) { // the file does not have the expected format
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

// Measure describes the log in numbers. It returns an error if the log is too small for the
// given purpose.
func (l *Log) Measure(purpose string) (*describe.Log, error) {
	log := describe.Describe(l.Trace)
	if log.Records < 2 || log.Ran == 0 {
		return nil, misuse.Errorf("%s: found %d records (%d of jobs that ran), want more records to %s", l.Name, log.Records, log.Ran, purpose)
	}
	return log, nil
}

// PlanLog converts a plan to a log without a machine size.
func PlanLog(plan workloadgen.Plan) *swf.Trace {
	t := swf.FromPlan(plan, 0)
	t.Header = nil
	t.Accounting = swf.Accounting{Lines: len(plan), Used: len(plan)}
	return t
}

// IsPlan reports whether name is the name of a plan file, not of a log.
func IsPlan(name string) bool { return strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".csv") }

// Told describes how the lines of the file and its records were interpreted.
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

// Plan returns the jobs of the log, with memory requirements taken from m. If the file is a
// log, it also reports how the lines of the file were interpreted.
func (l *Log) Plan(m swf.Memory) (workloadgen.Plan, []string) {
	if l.isPlan {
		return l.jobs, nil
	}
	plan, acc := l.Trace.Plan(m)
	return plan, append(l.Told(), "as a plan: "+strings.TrimSpace(acc.String()))
}

// Copy returns the records of the log unchanged, with a header that matches them.
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

// base returns the name of the file without the directory.
func (l *Log) base() string { return filepath.Base(l.Name) }
