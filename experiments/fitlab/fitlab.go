// Package fitlab runs what workloadgen offers in parts on all processors: the
// table of goodness of fit, fits of many laws to many columns. Every part has
// its own stream of chance and results are put together in the order of the
// parts, so that the number of workers changes nothing but the time.
package fitlab

import (
	"context"
	"math/rand/v2"
	"runtime"

	"bourse/experiments/rescue"

	"golang.org/x/sync/errgroup"
)

// A Stream returns a new source of chance for the named use: the same name, the
// same draws.
type Stream func(name string) rand.Source

// each calls do for 0 to n-1 on the given number of workers, 0 for one a
// processor.
func each(ctx context.Context, n, workers int, do func(i int) error) error {
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for i := range n {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return rescue.Do(func() error { return do(i) })
		})
	}
	return group.Wait()
}
