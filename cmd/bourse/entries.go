package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/urfave/cli/v2"
)

type logOption struct {
	Log string `validate:"oneof=text json" default:"text" doc:"write log entries as {FORMAT}: text or json"`
}

// newLog returns the log of a long-running program. It writes entries with UTC times to
// standard error. With --quiet, it writes only warnings and errors.
func newLog(c *cli.Context) (*slog.Logger, error) {
	o := &slog.HandlerOptions{ReplaceAttr: inUTC}
	if c.Bool("quiet") {
		o.Level = slog.LevelWarn
	}
	switch format := c.String("log"); format {
	case "text":
		return slog.New(newRepeats(slog.NewTextHandler(c.App.ErrWriter, o), time.Now)), nil
	case "json":
		return slog.New(newRepeats(slog.NewJSONHandler(c.App.ErrWriter, o), time.Now)), nil
	default:
		return nil, usagef("--log: found %q, want text or json", format)
	}
}

// inUTC converts the time of an entry to UTC and rounds it to milliseconds.
func inUTC(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		a.Value = slog.StringValue(a.Value.Time().UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	return a
}

// openActions opens the log of operator actions in the given file. The log has one JSON
// object per line.
func openActions(file string) (*slog.Logger, io.Closer, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, err
	}
	return slog.New(slog.NewJSONHandler(f, &slog.HandlerOptions{ReplaceAttr: inUTC})), f, nil
}

// repeatTime is the period in which identical entries are written only once.
const repeatTime = 10 * time.Second

// A repeats forwards each distinct entry once per repeatTime. It counts the omitted entries
// and adds the count to the next written entry of the same kind.
type repeats struct {
	slog.Handler
	now  func() time.Time
	with string // attributes of its logger
	*counts
}

type counts struct {
	mu   sync.Mutex
	seen map[string]repeated
}

type repeated struct {
	at    time.Time // time at which the entry was last written
	since int       // number of repetitions since
}

func newRepeats(h slog.Handler, now func() time.Time) *repeats {
	return &repeats{h, now, "", &counts{seen: make(map[string]repeated)}}
}

// mostSeen is the maximum number of kinds of entries that a repeats remembers.
const mostSeen = 1000

// Handle implements [slog.Handler].
func (r *repeats) Handle(ctx context.Context, e slog.Record) error {
	key, now := r.with+"\x00"+e.Message, r.now()
	e.Attrs(func(a slog.Attr) bool {
		key += "\x00" + a.String()
		return true
	})
	r.mu.Lock()
	was, known := r.seen[key]
	if known && now.Sub(was.at) < repeatTime {
		was.since++
		r.seen[key] = was
		r.mu.Unlock()
		return nil
	}
	if len(r.seen) >= mostSeen {
		clear(r.seen)
	}
	r.seen[key] = repeated{at: now}
	r.mu.Unlock()
	if was.since > 0 {
		e = e.Clone()
		e.AddAttrs(slog.Int("repeated", was.since))
	}
	return r.Handler.Handle(ctx, e)
}

// WithAttrs implements [slog.Handler].
func (r *repeats) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := r.with
	for _, a := range attrs {
		with += "\x00" + a.String()
	}
	return &repeats{r.Handler.WithAttrs(attrs), r.now, with, r.counts}
}

// WithGroup implements [slog.Handler].
func (r *repeats) WithGroup(name string) slog.Handler {
	return &repeats{r.Handler.WithGroup(name), r.now, r.with + "\x00" + name, r.counts}
}
