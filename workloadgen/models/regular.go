package models

import (
	"fmt"
	"math"
	"math/rand/v2"

	"bourse/workloadgen"
	"bourse/workloadgen/annotate"
	"bourse/workloadgen/config"
	"bourse/workloadgen/dist"
)

// RegularOptions are the options of the model "regular".
type RegularOptions struct {
	Users   int         `yaml:"users" validate:"min=1,max=1e8" doc:"users, equally likely to submit a job"`
	From    float64     `yaml:"from" validate:"min=0,max=1e11" doc:"time of the first submission, s"`
	To      float64     `yaml:"to" validate:"min=0,max=1e11" doc:"end of submissions (exclusive), s"`
	Every   float64     `yaml:"every" validate:"gt=0" doc:"seconds between submissions"`
	Runtime config.Spec `yaml:"runtime" doc:"distribution of the runtimes in seconds, rounded to whole seconds, at least 1"`

	annotate.Options `yaml:",inline"`
}

// DefaultRegular returns the workload of Zhang and Phillips (§5): one job every two minutes from
// the second to the seventh day. Runtimes are exponential with a mean of 1000 s, conditioned on 1
// to 10,000 s.
func DefaultRegular() RegularOptions {
	const day = 86400
	return RegularOptions{
		Users: 10, From: day, To: 7 * day, Every: 120,
		Runtime: config.Spec{Name: "within", Options: map[string]any{
			"min": 1.0, "max": 10_000.0, "of": map[string]any{"name": "exponential", "options": map[string]any{"mean": 1000.0}},
		}},
	}
}

// Regular submits jobs of one processor at regular intervals. A job draws two
// uniforms: runtime and user.
type Regular struct {
	o       RegularOptions
	jobs    int
	runtime dist.Distribution
}

func newRegular(decode func(any) error) (workloadgen.Model, error) {
	o := DefaultRegular()
	if err := decode(&o); err != nil {
		return nil, err
	}
	return NewRegular(o)
}

// NewRegular creates the model.
func NewRegular(o RegularOptions) (*Regular, error) {
	if err := config.Check(&o); err != nil {
		return nil, err
	}
	switch {
	case o.To <= o.From:
		return nil, fmt.Errorf("to: found %v, want more than from, %v", o.To, o.From)
	case (o.To-o.From)/o.Every > maxJobs:
		return nil, fmt.Errorf("every: found %v, want a larger interval (at most %d jobs)", o.Every, maxJobs)
	}
	if err := o.Options.Validate(); err != nil {
		return nil, err
	}
	law, err := dist.Table().New(o.Runtime.Name, o.Runtime.Decode)
	if err != nil {
		return nil, fmt.Errorf("runtime: %w", err)
	}
	m := &Regular{o: o, jobs: int(math.Ceil((o.To - o.From) / o.Every)), runtime: law}
	for m.at(m.jobs-1) >= o.To { // only because of rounding
		m.jobs--
	}
	return m, nil
}

// at returns the submission time of job i, in seconds.
func (m *Regular) at(i int) float64 { return m.o.From + float64(i)*m.o.Every }

// Plan implements [workloadgen.Model]. If n jobs do not fit into the period, the remaining ones
// are submitted after it, at the same intervals.
func (m *Regular) Plan(src rand.Source, n int, into workloadgen.Plan) (workloadgen.Plan, error) {
	if n == 0 {
		n = m.jobs
	}
	if n < 0 || n > maxJobs || m.at(n-1) > workloadgen.MaxSeconds {
		return nil, fmt.Errorf("%d jobs is not in 1..%d, or the last arrives after %v s", n, maxJobs, float64(workloadgen.MaxSeconds))
	}
	plan := resize(into, n)
	for i := range plan {
		run, user := dist.Open(src), dist.Open(src)
		runtime := math.Min(math.Max(1, math.Round(m.runtime.Quantile(run))), workloadgen.MaxSeconds)
		plan[i] = workloadgen.Job{
			ID:       int64(i + 1),
			User:     1 + int64(user*float64(m.o.Users)),
			Arrival:  m.at(i),
			Runtime:  runtime,
			Estimate: runtime,
			Deadline: runtime,
			Nodes:    1,
			Worth:    1,
		}
	}
	plan, _, err := m.o.Apply(plan, src)
	for i := range plan {
		plan[i].Arrival += m.o.From // annotations have moved the first arrival to 0
	}
	return plan, err
}
