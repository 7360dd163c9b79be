package models

import (
	"bourse/workloadgen"
	"bourse/workloadgen/annotate"
	"bourse/workloadgen/config"
)

// ExponentialOptions are the options of the model "exponential".
type ExponentialOptions struct {
	Jobs    int     `yaml:"jobs" validate:"min=1,max=1e8" doc:"jobs per plan"`
	Users   int     `yaml:"users" validate:"min=1,max=1e8" doc:"users, equally likely to submit a job"`
	IAT     float64 `yaml:"iat" validate:"gt=0" doc:"mean seconds between arrivals"`
	Runtime float64 `yaml:"runtime" validate:"gt=0" doc:"mean seconds of runtime"`
	Nodes   float64 `yaml:"nodes" doc:"processors of each job"`

	annotate.Options `yaml:",inline"`
}

// newExponential returns an [Independent] with the two means. Its arrivals are a Poisson
// process.
func newExponential(decode func(any) error) (workloadgen.Model, error) {
	o := ExponentialOptions{Jobs: 1000, Users: 10, IAT: 300, Runtime: 3600, Nodes: 1}
	if err := decode(&o); err != nil {
		return nil, err
	}
	in := DefaultIndependent()
	in.Jobs, in.Users, in.Options = o.Jobs, o.Users, o.Options
	in.IAT = config.Spec{Name: "exponential", Options: map[string]any{"mean": o.IAT}}
	in.Runtime = config.Spec{Name: "exponential", Options: map[string]any{"mean": o.Runtime}}
	in.Nodes = config.Spec{Name: "constant", Options: map[string]any{"value": o.Nodes}}
	return NewIndependent(in)
}
