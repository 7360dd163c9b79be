package main

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"bourse/bank/store"

	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v2"
)

// logEvery is how often progress is logged where there is no terminal.
const logEvery = 10 * time.Second

// progress returns what shows how far a long piece of work has come: a bar on a
// terminal, a line every ten seconds elsewhere.
func progress(c *cli.Context, what string) func(done, total int) {
	if c.Bool("quiet") || c.Bool("no-progress") {
		return nil
	}
	if _, ok := descriptor(c.App.ErrWriter); !ok {
		log := slog.New(slog.NewTextHandler(c.App.ErrWriter, nil))
		last := time.Now()
		return func(done, total int) {
			if now := time.Now(); now.Sub(last) >= logEvery {
				last = now
				log.Info(what, "done", done, "of", total)
			}
		}
	}
	var bar *progressbar.ProgressBar
	return func(done, total int) {
		if bar == nil {
			bar = progressbar.NewOptions(total,
				progressbar.OptionSetWriter(c.App.ErrWriter), progressbar.OptionSetDescription(what),
				progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true),
				progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
		}
		if bar.GetMax() != total {
			bar.ChangeMax(total)
		}
		_ = bar.Set(done) // a bar that cannot be drawn is not missed
	}
}

// A tally adds up how far many ledgers' audits have come, in entries.
type tally struct {
	mu       sync.Mutex
	done     []int64
	total    []int64
	progress func(done, total int)
}

// newTally returns a tally of ledgers that have these heads, as text, or none that is
// known. It tells progress, which may be nil.
func newTally(heads []string, progress func(done, total int)) *tally {
	t := &tally{done: make([]int64, len(heads)), total: make([]int64, len(heads)), progress: progress}
	for i, head := range heads {
		if h, err := store.ParseHead(head); err == nil {
			t.total[i] = h.Size
		}
	}
	return t
}

// of returns what the audit of ledger i tells.
func (t *tally) of(i int) func(done, total int64) {
	if t.progress == nil {
		return nil
	}
	return func(done, total int64) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.done[i], t.total[i] = done, max(total, t.total[i])
		var all [2]int64
		for i := range t.done {
			all[0], all[1] = all[0]+t.done[i], all[1]+t.total[i]
		}
		t.progress(int(all[0]), int(all[1]))
	}
}

// stopwatch returns what tells the seconds since now.
func stopwatch() func() float64 {
	start := time.Now()
	return func() float64 { return time.Since(start).Seconds() }
}

// count returns a number of things in words: 1 ledger, 2 ledgers.
func count(n int, of string) string {
	if n != 1 {
		of += "s"
	}
	return fmt.Sprintf("%d %s", n, of)
}

// note prints a line for people, unless they want quiet.
func note(c *cli.Context, format string, args ...any) {
	if !c.Bool("quiet") {
		fmt.Fprintf(c.App.ErrWriter, format+"\n", args...)
	}
}
