package models

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"bourse/workloadgen"
	"bourse/workloadgen/annotate"
	"bourse/workloadgen/config"
	"bourse/workloadgen/dist"
)

// ResampleOptions are the options of "resample".
type ResampleOptions struct {
	TraceOptions     `yaml:",inline"`
	Jobs             int    `yaml:"jobs" validate:"min=0,max=1e8" doc:"jobs per plan; 0 means as many as in the log"`
	By               string `yaml:"by" validate:"oneof=block user" doc:"block (default): runs of consecutive jobs; user: all jobs of a user"`
	Block            int    `yaml:"block" validate:"min=1" doc:"jobs per run"`
	annotate.Options `yaml:",inline"`
}

// Resample draws plans from a recorded log with replacement, so that one log
// gives many plans like it.
//
// When it draws blocks, runs of consecutive jobs follow one another. Each job keeps its gap
// from the log, so that correlations within a run are preserved.
//
// When it draws users, it draws as many users as the log has, each with all of its jobs. It
// moves a user's jobs by whole weeks, cyclically within the log's span, so they keep their
// times of day. A user drawn twice becomes two users.
//
// Jobs are numbered from 1, and so are users if users are drawn. No job follows another.
type Resample struct {
	o      ResampleOptions
	plan   workloadgen.Plan
	users  [][]int // positions in plan of each user's jobs
	report TraceReport
}

const week = 7 * 86400.0

func newResample(decode func(any) error) (workloadgen.Model, error) {
	o := ResampleOptions{By: "block", Block: 100}
	if err := decode(&o); err != nil {
		return nil, err
	}
	return NewResample(o)
}

// NewResample creates the model. It reads the log only once.
func NewResample(o ResampleOptions) (*Resample, error) {
	if err := config.Check(&o); err != nil {
		return nil, err
	}
	if err := o.Options.Validate(); err != nil {
		return nil, err
	}
	m := &Resample{o: o}
	var err error
	if m.plan, m.report, err = o.Read(); err != nil {
		return nil, err
	}
	at := map[int64]int{}
	for i, j := range m.plan {
		m.plan[i].After, m.plan[i].Think = 0, 0 // numbers change
		k, ok := at[j.User]
		if !ok {
			k = len(m.users)
			at[j.User] = k
			m.users = append(m.users, nil)
		}
		m.users[k] = append(m.users[k], i)
	}
	return m, nil
}

// Report returns the outcome of each line of the log.
func (m *Resample) Report() TraceReport { return m.report }

// Plan implements [workloadgen.Model].
func (m *Resample) Plan(src rand.Source, n int, into workloadgen.Plan) (workloadgen.Plan, error) {
	if n == 0 {
		n = m.o.Jobs
	}
	if n < 0 || n > maxJobs {
		return nil, fmt.Errorf("%d jobs is not in 0..%d", n, maxJobs)
	}
	var plan workloadgen.Plan
	if m.o.By == "user" {
		plan = m.byUser(src, into[:0])
		if n > len(plan) {
			return nil, fmt.Errorf("found %d jobs, want at most %d, the jobs of the users drawn", n, len(plan))
		}
		if n > 0 {
			plan = plan[:n]
		}
	} else {
		if n == 0 {
			n = len(m.plan)
		}
		plan = m.byBlock(src, n, into[:0])
	}
	for i := range plan {
		plan[i].ID = int64(i + 1)
	}
	plan, _, err := m.o.Apply(plan, src)
	return plan, err
}

func (m *Resample) byBlock(src rand.Source, n int, plan workloadgen.Plan) workloadgen.Plan {
	block := min(m.o.Block, len(m.plan))
	now := 0.0
	for len(plan) < n {
		at := int(dist.Open(src) * float64(len(m.plan)-block+1))
		for i := at; i < at+block && len(plan) < n; i++ {
			j := m.plan[i]
			if i > 0 {
				now += j.Arrival - m.plan[i-1].Arrival
			}
			j.Arrival = now
			plan = append(plan, j)
		}
	}
	return plan
}

func (m *Resample) byUser(src rand.Source, plan workloadgen.Plan) workloadgen.Plan {
	first := m.plan[0].Arrival
	weeks := math.Floor((m.plan[len(m.plan)-1].Arrival-first)/week) + 1
	for k := range m.users {
		who := m.users[int(dist.Open(src)*float64(len(m.users)))]
		shift := week * math.Floor(dist.Open(src)*weeks)
		for _, i := range who {
			j := m.plan[i]
			j.User = int64(k + 1)
			j.Arrival = math.Mod(j.Arrival-first+shift, weeks*week)
			plan = append(plan, j)
		}
	}
	slices.SortStableFunc(plan, func(a, b workloadgen.Job) int { return cmp.Compare(a.Arrival, b.Arrival) })
	return plan
}
