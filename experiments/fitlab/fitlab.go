// Package fitlab runs parts of workloadgen on all processors: the table of goodness of fit,
// and the fits of many distributions to many quantities. Each part has its own random stream,
// and the results are combined in the order of the parts. The number of workers therefore
// affects only the run time.
package fitlab

import (
	"context"
	"math/rand/v2"
	"runtime"

	"bourse/experiments/recovered"

	"golang.org/x/sync/errgroup"
)

// A Stream returns a new random source for the named use. The same name always returns the
// same random numbers.
type Stream func(name string) rand.Source

// each calls do for 0 to n-1 using the given number of workers. 0 means one worker per
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
			return recovered.Do(func() error { return do(i) })
		})
	}
	return group.Wait()
}
