package models

import (
	"bourse/workloadgen"
	"bourse/workloadgen/annotate"
	"bourse/workloadgen/dist"
)

// ExponentialOptions are those of "exponential".
type ExponentialOptions struct {
	Jobs    int     `yaml:"jobs" doc:"jobs of a plan"`
	Users   int     `yaml:"users" doc:"users, each as likely as another to submit a job"`
	IAT     float64 `yaml:"iat" doc:"mean seconds between arrivals"`
	Runtime float64 `yaml:"runtime" doc:"mean seconds of runtime"`
	Nodes   float64 `yaml:"nodes" doc:"processors of every job"`

	annotate.Options `yaml:",inline"`
}

// newExponential makes an [Independent] of the two means: arrivals are a
// Poisson process.
func newExponential(decode func(any) error) (workloadgen.Model, error) {
	o := ExponentialOptions{Jobs: 1000, Users: 10, IAT: 300, Runtime: 3600, Nodes: 1}
	if err := decode(&o); err != nil {
		return nil, err
	}
	in := DefaultIndependent()
	in.Jobs, in.Users, in.Options = o.Jobs, o.Users, o.Options
	in.IAT = dist.Spec{Name: "exponential", Options: map[string]any{"mean": o.IAT}}
	in.Runtime = dist.Spec{Name: "exponential", Options: map[string]any{"mean": o.Runtime}}
	in.Nodes = dist.Spec{Name: "constant", Options: map[string]any{"value": o.Nodes}}
	return NewIndependent(in)
}
