package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"
)

// TestInterruptedInput checks that a command that waits for standard input can be
// interrupted.
func TestInterruptedInput(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"market clear - --capacity 3", "scenario check -", "engine -", "bank verify -"} {
		in, _ := io.Pipe() // no program writes to this pipe
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		var out, errs bytes.Buffer
		status := run(ctx, append([]string{"bourse"}, strings.Fields(args)...), in, &out, &errs)
		if status != statusInterrupted || !strings.Contains(errs.String(), "interrupted") {
			t.Errorf("bourse %s: exit status %d, %q, %q", args, status, out.String(), errs.String())
		}
	}
}

// TestUnfinishedFile checks that no part of a file remains if writing fails or is interrupted.
func TestUnfinishedFile(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	status, out, errs := bourse(t, cancelled, "workload", "generate", "paper", "--csv", filepath.Join(dir, "plan.csv"))
	if status != statusInterrupted || out != "" {
		t.Errorf("exit status %d, %q, %q", status, out, errs)
	}
	full := errors.New("full")
	c := cli.NewContext(newApp(nil, nil, nil), nil, nil)
	c.Context = t.Context()
	err := writeFile(c, filepath.Join(dir, "model.yaml"), func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Repeat("law\n", 10000))
		return errors.Join(err, full)
	})
	if !errors.Is(err, full) {
		t.Errorf("got %v, want %v", err, full)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
