package experiments

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"

	"bourse/contracts"
	"bourse/contracts/admission/outside"
	"bourse/contracts/admission/script"
	"bourse/experiments/program"
	"bourse/experiments/recovered"
	"bourse/experiments/scenario"
	"bourse/hosts"
)

// outside returns a function that loads the scripts and starts the external programs that the
// options name.
func (read *recordings) outside(c *scenario.Configuration) func(v any) error {
	text := func(path string) ([]byte, error) { return readAs(read.files, path, io.ReadAll) }
	return func(v any) error {
		switch o := v.(type) {
		case *script.Options:
			return o.Load(text, recovered.Guard(context.Background()))
		case *outside.Program:
			fleet := make([]hosts.Spec, c.Fleet.Hosts)
			for h := range fleet {
				fleet[h] = spec(&c.Fleet, h, nil)
			}
			hello, err := program.Connect(o, fleet, text)
			if err == nil && read.files != nil {
				read.files["hello of "+strings.Join(o.Command, " ")] = fmt.Sprintf("%x", sha256.Sum256(hello))
			}
			return err
		}
		return nil
	}
}

// guard stops the decisions of an external policy when ctx is done or when the policy uses too
// much memory.
func guard(ctx context.Context, p contracts.Policy) {
	if o, ok := p.(*outside.Policy); ok {
		o.SetGuard(recovered.Guard(ctx))
	}
}

// hear adds the questions to an external program and its answers, in one run, to the hash in
// a.
func (a *workspace) hear(p contracts.Policy) {
	if o, ok := p.(*outside.Policy); ok && o.Heard() != [sha256.Size]byte{} {
		run := o.Heard()
		a.heard = sha256.Sum256(append(a.heard[:], run[:]...))
	}
}

// An OutsideError reports the failure of an external policy and the run in which it
// occurred. The run is invalid, and so is the experiment.
type OutsideError struct {
	Configuration string
	Policy        string // label
	Replication   int
	Seed          uint64
	Choice        scenario.Choice

	Cause *outside.Error
}

// Error describes the failure in the first line and its location in the second line.
func (e *OutsideError) Error() string {
	return fmt.Sprintf("%v\n  in configuration %s, policy %s, replication %d, seed %d, job %d at %.6g s",
		e.Cause.Err, e.Configuration, e.Policy, e.Replication, e.Seed, e.Cause.Job, e.Cause.At)
}

// Unwrap returns the cause.
func (e *OutsideError) Unwrap() error { return e.Cause }

// failed returns the error of a run that a drew, or of a branch of it. If ctx ended during a
// decision, the policy is not at fault.
func (in *arrivals) failed(ctx context.Context, a *workspace, err error) error {
	e := &OutsideError{Configuration: in.setting.conf.Name, Policy: in.offer.Label, Replication: a.rep, Seed: a.seed, Choice: in.offer.Choice}
	switch {
	case !errors.As(err, &e.Cause):
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return e
}

// located reports whether err states where the error occurred.
func located(err error) bool {
	return errors.As(err, new(*Panic)) || errors.As(err, new(*OutsideError))
}
