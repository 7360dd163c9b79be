package experiments

import (
	"context"
	"errors"
	"fmt"

	"bourse/contracts"
	"bourse/contracts/admission/outside"
	"bourse/experiments/rescue"
	"bourse/experiments/scenario"
)

// guard stops the decisions of a policy from outside when ctx ends or they use too much memory.
func guard(ctx context.Context, p contracts.Policy) {
	if o, ok := p.(*outside.Policy); ok {
		o.SetGuard(rescue.Guard(ctx))
	}
}

// An OutsideError is the failure of a policy from outside, with the run in which it occurred.
// The run is void, and so is the experiment.
type OutsideError struct {
	Configuration string
	Policy        string // label
	Replication   int
	Seed          uint64
	Choice        scenario.Choice

	Cause *outside.Error
}

// Error describes the failure in one line and where it occurred in another.
func (e *OutsideError) Error() string {
	return fmt.Sprintf("%v\n  in configuration %s, policy %s, replication %d, seed %d, job %d at %.6g s",
		e.Cause.Err, e.Configuration, e.Policy, e.Replication, e.Seed, e.Cause.Job, e.Cause.At)
}

// Unwrap returns the cause.
func (e *OutsideError) Unwrap() error { return e.Cause }

// failed returns the error of a run. A decision that was cut short by the end of ctx is no
// failure of its policy.
func (in *arrivals) failed(ctx context.Context, err error, seed uint64, rep int) error {
	e := &OutsideError{Configuration: in.setting.conf.Name, Policy: in.offer.Label, Replication: rep, Seed: seed, Choice: in.offer.Choice}
	switch {
	case !errors.As(err, &e.Cause):
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return e
}

// located reports whether err states where it occurred.
func located(err error) bool {
	return errors.As(err, new(*Panic)) || errors.As(err, new(*OutsideError))
}
