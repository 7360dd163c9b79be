package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// bourse runs the program and returns its exit status and output.
func bourse(t *testing.T, ctx context.Context, args ...string) (status int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	status = run(ctx, append([]string{"bourse"}, args...), strings.NewReader(""), &o, &e)
	return status, o.String(), e.String()
}

// TestStatus checks the exit statuses listed by --help. An error must be reported on
// standard error in at most three lines.
func TestStatus(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		args string
		want int
	}{
		{nil, "policies", statusDone},
		{nil, "--version", statusDone},
		{nil, "nonsense", statusUsage},
		{nil, "market nonsense", statusUsage},
		{nil, "run --nonsense", statusUsage},
		{nil, "run --seed minus", statusUsage},
		{nil, "run one.yaml two.yaml", statusUsage},
		{nil, "run --set replications=0", statusUsage},
		{nil, "run --set configurations.pareto-high.fleet.hosts=.nan", statusUsage},
		{nil, "run --preset paper missing.yaml", statusUsage},
		{nil, "market clear missing.csv --capacity 3", statusUsage},
		{nil, "market clear missing.csv", statusUsage},
		{nil, "ledger export missing", statusUsage},
		{nil, "advise --pa 0.5", statusUsage},
		{nil, "scenario show nonsense", statusUsage},
		{cancelled, "run --replications 100000", statusInterrupted},
	} {
		ctx := c.ctx
		if ctx == nil {
			ctx = context.Background()
		}
		args := strings.Fields(c.args)
		if args[0] == "run" {
			args = append(args, "--out", t.TempDir()+"/r")
		}
		status, _, errs := bourse(t, ctx, args...)
		if status != c.want {
			t.Errorf("bourse %s: exit status %d, want %d; %s", c.args, status, c.want, errs)
		}
		if lines := strings.Count(errs, "\n"); (status != statusDone) != (errs != "") || lines > 3 {
			t.Errorf("bourse %s: %d lines on standard error: %s", c.args, lines, errs)
		}
	}
}

// TestInterrupted checks that an interrupted sweep leaves no files and that, of several
// sweeps, only the complete ones remain.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for _, preset := range []string{"librasla-figure2", "librasla"} {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(300*time.Millisecond, cancel)
		status, out, errs := bourse(t, ctx, "run", "--preset", preset, "--replications", "100000", "--out", filepath.Join(dir, "r"))
		if status != statusInterrupted || out != "" || !strings.Contains(errs, "interrupted") {
			t.Errorf("%s: exit status %d, %q, %q", preset, status, out, errs)
		}
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				t.Errorf("%s: left %s", preset, path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestIncomplete checks the status of a sweep of several figures if one cannot be written. The
// figures before that one must exist.
func TestIncomplete(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "figure3"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	status, _, errs := bourse(t, t.Context(), "run", "--preset", "librasla", "--replications", "1",
		"--set", "base.workload.model.jobs=20", "--out", dir)
	if status != statusIncomplete || !strings.Contains(errs, "1 of 4 figures are complete") {
		t.Errorf("exit status %d, %s", status, errs)
	}
	if _, err := os.Stat(filepath.Join(dir, "figure2", "report.html")); err != nil {
		t.Error(err)
	}
}

// TestFlagsAnywhere checks that flags are recognized before and after arguments, with their
// values, up to --.
func TestFlagsAnywhere(t *testing.T) {
	t.Parallel()
	app := newApp(nil, nil, nil)
	for _, c := range []struct{ args, want string }{
		{"bourse run FILE --seed 3 --quiet", "bourse run --seed 3 --quiet FILE"},
		{"bourse run --quiet FILE --seed=3", "bourse run --quiet --seed=3 FILE"},
		{"bourse market clear A --capacity 3", "bourse market clear --capacity 3 A"},
		{"bourse market clear --capacity 3 -- --odd", "bourse market clear --capacity 3 -- --odd"},
		{"bourse engine - --cap 1", "bourse engine --cap 1 -"},
		{"bourse --help", "bourse --help"},
	} {
		if got := strings.Join(permute(app.Commands, strings.Fields(c.args)), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.args, got, c.want)
		}
	}
}

// TestTogether checks transfers that many processes request from one folder at the same
// time. All must be booked or end with the status of a busy bank, never with that of a
// refusal.
func TestTogether(t *testing.T) {
	t.Parallel()
	books := filepath.Join(t.TempDir(), "books")
	for _, args := range [][]string{{"init", books}, {"mint", books, "user:ann", "100", "--id", "m"}} {
		if status, _, errs := bourse(t, t.Context(), append([]string{"bank"}, args...)...); status != statusDone {
			t.Fatal(errs)
		}
	}
	var all sync.WaitGroup
	var booked atomic.Int64
	for n := range 20 {
		all.Go(func() {
			switch status, _, errs := bourse(t, t.Context(), "bank", "transfer", books, "user:ann", "user:bob", "1", "--id", fmt.Sprint(n)); {
			case status == statusDone:
				booked.Add(1)
			case status != statusAgain || !strings.Contains(errs, "try again"):
				t.Errorf("exit status %d: %s", status, errs)
			}
		})
	}
	all.Wait()
	out, want := "", fmt.Sprintf("user:bob %d.000000\n", booked.Load())
	if _, out, _ = bourse(t, t.Context(), "bank", "balance", books, "user:bob"); out != want || booked.Load() == 0 {
		t.Errorf("%s, want %s", out, want)
	}
	if status, _, _ := bourse(t, t.Context(), "bank", "transfer", books, "user:ann", "user:bob", "1000", "--id", "much"); status != statusFailed {
		t.Errorf("for want of money: exit status %d, want %d", status, statusFailed)
	}
}
