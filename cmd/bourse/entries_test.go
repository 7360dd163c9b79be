package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestRepeats checks that an entry repeated within ten seconds is written once, and later
// with the number of its repetitions. Entries of two hosts are separate, and times are in
// UTC.
func TestRepeats(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	log := slog.New(newRepeats(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: inUTC}), func() time.Time { return now }))
	one, two := log.With("host", "h00"), log.With("host", "h01")
	for range 1000 {
		one.Warn("the disk is full")
		two.Warn("the disk is full")
		now = now.Add(25 * time.Millisecond)
	}
	log.Info("something else", "n", 1)
	log.Info("something else", "n", 2)
	var got []string
	for line := range strings.Lines(out.String()) {
		at, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if _, err := time.Parse("time=2006-01-02T15:04:05.000Z", at); err != nil {
			t.Error(err)
		}
		got = append(got, rest)
	}
	want := []string{
		`level=WARN msg="the disk is full" host=h00`,
		`level=WARN msg="the disk is full" host=h01`,
		`level=WARN msg="the disk is full" host=h00 repeated=399`,
		`level=WARN msg="the disk is full" host=h01 repeated=399`,
		`level=WARN msg="the disk is full" host=h00 repeated=399`,
		`level=WARN msg="the disk is full" host=h01 repeated=399`,
		`level=INFO msg="something else" n=1`,
		`level=INFO msg="something else" n=2`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
