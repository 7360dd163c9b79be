package models

import (
	"fmt"
	"math/rand/v2"

	"bourse/workloadgen"
	"bourse/workloadgen/annotate"
	"bourse/workloadgen/config"
	"bourse/workloadgen/dist"
)

// SWFOptions are the options of "swf".
type SWFOptions struct {
	TraceOptions     `yaml:",inline"`
	Jobs             int    `yaml:"jobs" validate:"min=0" doc:"consecutive jobs to take; 0 takes all"`
	Start            string `yaml:"start" validate:"omitempty,oneof=first random" doc:"first: the first jobs of the log (default); random: the same number from anywhere in the log"`
	annotate.Options `yaml:",inline"`
}

// SWF replays a recorded log: consecutive jobs with their own arrivals, runtimes, sizes and
// estimates, annotated according to the options. The first job arrives at 0. It always draws
// one uniform for the position of the first job, and then the numbers that annotations need.
type SWF struct {
	o      SWFOptions
	plan   workloadgen.Plan
	report TraceReport
}

func newSWF(decode func(any) error) (workloadgen.Model, error) {
	var o SWFOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	return NewSWF(o)
}

// NewSWF creates the model. It reads the log only once.
func NewSWF(o SWFOptions) (*SWF, error) {
	if err := config.Check(&o); err != nil {
		return nil, err
	}
	if err := o.Options.Validate(); err != nil {
		return nil, err
	}
	plan, report, err := o.Read()
	if err != nil {
		return nil, err
	}
	if o.Jobs > len(plan) {
		return nil, fmt.Errorf("%s: found %d jobs requested, want at most %d, the jobs of the log", o.File, o.Jobs, len(plan))
	}
	return &SWF{o, plan, report}, nil
}

// Report returns the outcome of each line of the log.
func (m *SWF) Report() TraceReport { return m.report }

// Plan implements [workloadgen.Model].
func (m *SWF) Plan(src rand.Source, n int, into workloadgen.Plan) (workloadgen.Plan, error) {
	if n == 0 {
		n = m.o.Jobs
	}
	if n == 0 {
		n = len(m.plan)
	}
	if n < 0 || n > len(m.plan) {
		return nil, fmt.Errorf("found %d jobs requested, want at most %d, the jobs of the log", n, len(m.plan))
	}
	at := int(dist.Open(src) * float64(len(m.plan)-n+1))
	if m.o.Start != "random" {
		at = 0
	}
	plan := append(into[:0], m.plan[at:at+n]...)
	plan, _, err := m.o.Apply(plan, src)
	return plan, err
}
