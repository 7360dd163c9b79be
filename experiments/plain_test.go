package experiments

import (
	"context"

	"bourse/experiments/scenario"
)

// Each prepares e and runs it.
func Each(ctx context.Context, e *scenario.Experiment, opts Options, take func(*Replication) error) error {
	x := e.Expanded()
	all, err := settings(&x, nil)
	if err != nil {
		return err
	}
	return (&Prepared{Experiment: &x, settings: all}).Each(ctx, opts, take)
}

// Check prepares e without running it.
func Check(e *scenario.Experiment) error {
	_, err := Prepare(e)
	return err
}
