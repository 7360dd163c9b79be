package recovered

import (
	"context"
	"fmt"
	"os"
	"runtime/metrics"
	"time"
)

// The limits for one call of external code.
const (
	growth  = 256 << 20        // number of bytes by which live memory may grow
	longest = 10 * time.Second // time limit of a computation that has no time limit of its own
	grace   = 5 * time.Second  // time after which a canceled computation that has not ended is considered impossible to stop
	every   = 5 * time.Millisecond
)

// Endless is the text with which the program ends if a canceled computation does not end.
const Endless = "a call to the policy did not return and cannot be stopped"

// Guard returns a function that starts to guard a computation. That function returns another
// one, which stops the guard. The guard cancels the computation if ctx ends, if it takes more
// than 10 s, or if the program's memory has grown by 256 MiB since the start. It checks the
// memory every 5 ms. After the memory has grown by 4 MiB, a computation that has the method
// CheckOften also checks it between operations. On a busy machine, the guard could be delayed
// by several operations, and each could double the memory. A computation that is Timed runs in
// another process and has a time limit of its own. A single operation, such as the product of
// two integers of many megabytes, cannot be canceled. If such an operation does not end, the
// program exits with status 1, or with status 130 if ctx has ended.
func Guard(ctx context.Context) func(c interface{ Cancel(reason string) }) (done func()) {
	return guard(ctx, func() {
		status := 1
		if ctx.Err() != nil {
			status = 130
		}
		fmt.Fprintln(os.Stderr, "bourse: "+Endless)
		os.Exit(status)
	})
}

// guard returns a guard that calls end if a canceled computation does not end.
func guard(ctx context.Context, end func()) func(c interface{ Cancel(reason string) }) (done func()) {
	return func(c interface{ Cancel(reason string) }) func() {
		stop := make(chan struct{})
		t := time.AfterFunc(every, func() { watch(ctx, c, stop, end) })
		return func() {
			if !t.Stop() {
				close(stop)
			}
		}
	}
}

// watch checks a computation until stop is closed. Most computations end before.
func watch(ctx context.Context, c interface{ Cancel(reason string) }, stop chan struct{}, end func()) {
	live, used := heap()
	check := func() (grown uint64, over bool) {
		// Between garbage collections, the garbage grows at most by the amount of live memory.
		nowLive, nowUsed := heap()
		if over = nowLive > live+growth || nowUsed > used+live+growth; over {
			c.Cancel(fmt.Sprintf("memory grew by more than %d MiB in one call", growth>>20))
		}
		return max(nowUsed, used) - used, over
	}
	often, _ := c.(interface{ CheckOften(check func()) })
	tick := time.NewTicker(every)
	defer tick.Stop()
	late := time.NewTimer(longest)
	defer late.Stop()
	if t, ok := c.(interface{ Timed() bool }); ok && t.Timed() { // in another process
		late.Stop()
		check = func() (uint64, bool) { return 0, false }
	}
	wait := grace
	for {
		grown, over := check()
		if over {
			break
		}
		if often != nil && grown > growth/64 {
			often.CheckOften(func() { check() })
			often = nil
		}
		select {
		case <-stop:
			return
		case <-tick.C:
			continue
		case <-ctx.Done():
			wait = grace / 10
			c.Cancel("interrupted")
		case <-late.C:
			c.Cancel(fmt.Sprintf("the call took more than %v, which is the limit for one call", longest))
		}
		break
	}
	select {
	case <-stop:
	case <-time.After(wait):
		end()
	}
}

// heap returns the bytes that the last garbage collection found in use, and the bytes of all
// objects, including garbage.
func heap() (live, used uint64) {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64(), sample[1].Value.Uint64()
}
