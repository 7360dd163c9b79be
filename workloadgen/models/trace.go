package models

import (
	"errors"
	"fmt"

	"bourse/workloadgen"
	"bourse/workloadgen/swf"
)

// TraceOptions specify a recorded log, and the part of the log to use.
type TraceOptions struct {
	File   string `yaml:"file" doc:"log in the Standard Workload Format, plain or gzip"`
	Filter string `yaml:"filter" doc:"filter on the records, such as last:3000,ran"`
}

// A TraceReport counts the outcomes of the lines of a log.
type TraceReport struct {
	File    string
	Lines   swf.Accounting // of the file
	Filters []swf.Step
	Records swf.Accounting // treatment of the records that passed the filters, when they become jobs
}

// Read reads the log and converts it to a plan with the arrivals of the log.
func (o *TraceOptions) Read() (workloadgen.Plan, TraceReport, error) {
	report := TraceReport{File: o.File}
	if o.File == "" {
		return nil, report, errors.New("file: found nothing, want the name of a log")
	}
	filters, err := swf.ParseFilters(o.Filter)
	if err != nil {
		return nil, report, err
	}
	trace, err := swf.ReadFile(o.File)
	if err != nil {
		return nil, report, err
	}
	report.Lines = trace.Accounting
	if trace, report.Filters, err = trace.Apply(filters...); err != nil {
		return nil, report, fmt.Errorf("%s: %w", o.File, err)
	}
	var plan workloadgen.Plan
	plan, report.Records = trace.Plan(swf.NoMemory)
	if len(plan) == 0 {
		return nil, report, fmt.Errorf("%s: none of %d records passed the filter", o.File, report.Records.Lines)
	}
	return plan, report, nil
}
