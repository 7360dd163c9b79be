package recovered

import (
	"context"
	"fmt"
	"runtime/metrics"
	"time"
)

// Limits for one call of external code.
const (
	growth = 256 << 20 // bytes by which live memory may grow
	every  = 5 * time.Millisecond
)

// Guard returns a function that starts to guard a computation. That function returns
// another one, which stops the guard. The guard cancels the computation if ctx ends or if
// the program's memory has grown by 256 MiB since the start. It checks both conditions
// every 5 ms.
func Guard(ctx context.Context) func(c interface{ Cancel(reason string) }) (done func()) {
	return func(c interface{ Cancel(reason string) }) func() {
		stop := make(chan struct{})
		t := time.AfterFunc(every, func() { watch(ctx, c, stop) })
		return func() {
			if !t.Stop() {
				close(stop)
			}
		}
	}
}

// watch checks a computation until stop is closed. Most computations end before.
func watch(ctx context.Context, c interface{ Cancel(reason string) }, stop chan struct{}) {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	live, used := sample[0].Value.Uint64()+growth, sample[1].Value.Uint64()+sample[0].Value.Uint64()+growth
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		// Between garbage collections, garbage grows by at most the amount of live memory.
		if metrics.Read(sample); sample[0].Value.Uint64() > live || sample[1].Value.Uint64() > used {
			c.Cancel(fmt.Sprintf("memory has grown by more than %d MiB in one call", growth>>20))
			return
		}
		select {
		case <-stop:
			return
		case <-ctx.Done():
			c.Cancel("interrupted")
			return
		case <-tick.C:
		}
	}
}
