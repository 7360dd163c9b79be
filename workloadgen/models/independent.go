package models

import (
	"fmt"
	"math"
	"math/rand/v2"

	"bourse/workloadgen"
	"bourse/workloadgen/annotate"
	"bourse/workloadgen/config"
	"bourse/workloadgen/dist"
	"bourse/workloadgen/memory"
)

// IndependentOptions are the options of the model "independent": a distribution for each
// quantity.
type IndependentOptions struct {
	Jobs     int         `yaml:"jobs" validate:"min=1,max=1e8" doc:"jobs per plan"`
	Users    int         `yaml:"users" validate:"min=1,max=1e8" doc:"users, equally likely to submit a job"`
	IAT      config.Spec `yaml:"iat" doc:"distribution of the seconds between arrivals"`
	Runtime  config.Spec `yaml:"runtime" doc:"distribution of the runtimes in seconds"`
	Nodes    config.Spec `yaml:"nodes" doc:"distribution of the processors, rounded, at least 1"`
	Widest   int         `yaml:"widest" validate:"min=0,max=16777216" doc:"maximum processors of a job: larger draws become this; 0 means no limit"`
	Shortest float64     `yaml:"shortest" validate:"gt=0,max=1e11" doc:"minimum runtime in seconds"`

	// Hurst gives the arrivals a long memory. The values of their gaps do not change, but they
	// are ordered such that R/S estimates this exponent within 0.005. A plan with fewer than
	// 1024 jobs is too short for an estimate. Hurst is then the exponent of the noise whose
	// ranks order the gaps.
	Hurst float64 `yaml:"hurst" validate:"min=0,lt=1" doc:"Hurst exponent of the gaps; 0 means none"`

	annotate.Options `yaml:",inline"`
}

// DefaultIndependent returns a Poisson stream of exponential one-processor jobs.
func DefaultIndependent() IndependentOptions {
	mean := func(x float64) config.Spec {
		return config.Spec{Name: "exponential", Options: map[string]any{"mean": x}}
	}
	return IndependentOptions{
		Jobs: 1000, Users: 10, IAT: mean(300), Runtime: mean(3600), Shortest: 1,
		Nodes: config.Spec{Name: "constant", Options: map[string]any{"value": 1.0}},
	}
}

// Independent draws each quantity from its own distribution. It draws four uniforms per job:
// gap, runtime, nodes and user. For a long memory, it then draws the noise that orders the
// gaps, and finally the numbers that annotations need. The first job arrives at 0.
type Independent struct {
	o                   IndependentOptions
	gap, runtime, nodes dist.Distribution
}

func newIndependent(decode func(any) error) (workloadgen.Model, error) {
	o := DefaultIndependent()
	if err := decode(&o); err != nil {
		return nil, err
	}
	return NewIndependent(o)
}

// NewIndependent creates the model.
func NewIndependent(o IndependentOptions) (*Independent, error) {
	if err := config.Check(&o); err != nil {
		return nil, err
	}
	if err := o.Options.Validate(); err != nil {
		return nil, err
	}
	m := &Independent{o: o}
	for _, p := range []struct {
		name string
		spec config.Spec
		law  *dist.Distribution
	}{{"iat", o.IAT, &m.gap}, {"runtime", o.Runtime, &m.runtime}, {"nodes", o.Nodes, &m.nodes}} {
		law, err := dist.Table().New(p.spec.Name, p.spec.Decode)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		*p.law = law
	}
	return m, nil
}

// Laws returns the distributions of gaps, runtimes and processors, before rounding and
// truncation.
func (m *Independent) Laws() (gap, runtime, nodes dist.Distribution) {
	return m.gap, m.runtime, m.nodes
}

// Plan implements [workloadgen.Model].
func (m *Independent) Plan(src rand.Source, n int, into workloadgen.Plan) (workloadgen.Plan, error) {
	if n == 0 {
		n = m.o.Jobs
	}
	if n < 0 || n > maxJobs {
		return nil, fmt.Errorf("%d jobs is not in 1..%d", n, maxJobs)
	}
	widest := float64(workloadgen.MaxNodes)
	if m.o.Widest > 0 {
		widest = float64(m.o.Widest)
	}
	plan := resize(into, n)
	for i := range plan {
		gap, run, size, user := dist.Open(src), dist.Open(src), dist.Open(src), dist.Open(src)
		runtime := math.Min(math.Max(m.o.Shortest, m.runtime.Quantile(run)), workloadgen.MaxSeconds)
		plan[i] = workloadgen.Job{
			ID:       int64(i + 1),
			User:     1 + int64(user*float64(m.o.Users)),
			Arrival:  math.Max(0, m.gap.Quantile(gap)),
			Runtime:  runtime,
			Estimate: runtime,
			Deadline: runtime,
			Nodes:    int(math.Min(math.Max(1, math.Round(m.nodes.Quantile(size))), widest)),
			Worth:    1,
		}
	}
	if m.o.Hurst > 0 && n > 1 {
		if err := m.remember(plan[1:], src); err != nil {
			return nil, err
		}
	}
	now := 0.0
	for i := range plan {
		if i > 0 {
			now += plan[i].Arrival
		}
		plan[i].Arrival = now
	}
	if now > workloadgen.MaxSeconds {
		return nil, fmt.Errorf("the last of %d jobs arrives at %v s, beyond %v", n, now, float64(workloadgen.MaxSeconds))
	}
	plan, _, err := m.o.Apply(plan, src)
	return plan, err
}

// remember reorders the gaps, which are stored in Arrival.
func (m *Independent) remember(plan workloadgen.Plan, src rand.Source) error {
	gaps := make([]float64, len(plan))
	for i := range plan {
		gaps[i] = plan[i].Arrival
	}
	if len(gaps) < 1023 {
		gaps = memory.Arrange(gaps, m.o.Hurst, src)
	} else {
		var err error
		if gaps, err = memory.Target(gaps, m.o.Hurst, memory.RescaledRange, src); err != nil {
			return err
		}
	}
	for i, g := range gaps {
		plan[i].Arrival = g
	}
	return nil
}
