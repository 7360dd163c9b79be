package main

import (
	"log/slog"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v2"
)

// logEvery is the time between two lines about progress if standard error is not a terminal.
const logEvery = 10 * time.Second

// progress returns a function that reports the progress of a long task. On a terminal it draws
// a bar, and otherwise it prints a line every ten seconds.
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
		_ = bar.Set(done) // ignore errors, because the bar is not essential
	}
}

// stopwatch returns a function that returns the seconds since the call of stopwatch.
func stopwatch() func() float64 {
	start := time.Now()
	return func() float64 { return time.Since(start).Seconds() }
}
