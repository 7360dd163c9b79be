package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"bourse/bank/place"
	"bourse/bank/store"
	"bourse/bank/store/postgres"
	"bourse/bank/store/postgres/pgtest"
)

// TestCopyInterrupted checks that a copy that is interrupted, or whose ledger is not clean,
// leaves nothing that could be mistaken for a bank, in a directory or in PostgreSQL.
func TestCopyInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from := filepath.Join(dir, "from")
	ctx := context.Background()
	for _, args := range [][]string{{"bank", "init", from}, {"bank", "mint", from, "user:ann", "5", "--id", "1"}} {
		if status, _, errs := bourse(t, ctx, args...); status != statusDone {
			t.Fatal(errs)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	places := []string{filepath.Join(dir, "to")}
	if pgtest.Found() {
		places = append(places, pgtest.URL(t))
	}
	for _, to := range places {
		if status, _, errs := bourse(t, cancelled, "bank", "copy", from, to); status != statusInterrupted {
			t.Errorf("%s: exit status %d, want %d; %s", to, status, statusInterrupted, errs)
		}
		for _, left := range []string{to, to + ".part"} {
			if _, err := readBank(left); err == nil {
				t.Errorf("%s is left", left)
			}
		}
		if status, _, errs := bourse(t, ctx, "bank", "copy", from, to); status != statusDone {
			t.Errorf("%s: copied again: %s", to, errs)
		}
	}
	logs, err := filepath.Glob(filepath.Join(from, "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatal(logs, err)
	}
	b, err := os.ReadFile(logs[len(logs)-1])
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(logs[len(logs)-1], b, 0o666); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, "bad")
	if status, out, _ := bourse(t, ctx, "bank", "copy", from, to); status != statusAudit {
		t.Errorf("a damaged ledger is copied: %s", out)
	}
	if _, err := os.Stat(to); err == nil {
		t.Errorf("%s is left", to)
	}
}

// TestCopyKilled checks a copy that is killed at any time or runs out of space, in a directory
// and in PostgreSQL. The copy must leave either a complete bank or nothing that can be read,
// written or audited as a bank, and the error must state what to do.
func TestCopyKilled(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	src := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	from := filepath.Join(dir, "from")
	if _, errs, status := bankAlone(t, "", "init", from); status != statusDone {
		t.Fatal(errs)
	}
	var orders strings.Builder
	for n := range 12000 {
		fmt.Fprintf(&orders, `{"id":"%d","from":"mint","to":"user:%d","amount":1}`+"\n", n, n%500)
	}
	if _, errs, status := bankAlone(t, orders.String(), "apply", from); status != statusDone {
		t.Fatal(errs)
	}
	want, _, _ := bankAlone(t, "", "log", from)
	// left checks what remains in a place and reports whether it is a bank.
	left := func(place string) bool {
		log, _, status := bankAlone(t, "", "log", place)
		if status == statusDone && log == want {
			return true
		}
		for _, args := range [][]string{{"balance", place}, {"audit", place}, {"mint", place, "user:ann", "1", "--id", "x"}} {
			out, errs, status := bankAlone(t, "", args...)
			if status != statusFailed && status != statusUsage || out != "" || strings.Count(errs, "\n") != 1 ||
				!strings.Contains(errs, "found no ledger") && !strings.Contains(errs, "an unfinished copy, not a bank") {
				t.Errorf("seed %d: %v of what is left: exit status %d, %q, %q", seed, args, status, out, errs)
			}
		}
		return false
	}
	places := []string{filepath.Join(dir, "to")}
	if pgtest.Found() {
		places = append(places, pgtest.URL(t))
	}
	for _, to := range places {
		part, remove := to+".part", func(dir string) error { return store.Discard(dir, store.Options{}) }
		if place.IsURL(to) {
			ledger, err := postgres.Ledger(to)
			if err != nil {
				t.Fatal(err)
			}
			if part, err = postgres.WithLedger(to, ledger+".part"); err != nil {
				t.Fatal(err)
			}
			remove = postgres.Drop
		}
		unfinished := 0
		for n := range 3 {
			cmd := exec.Command("bourse", "bank", "copy", from, to)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for end := time.Now().Add(30 * time.Second); time.Now().Before(end); runtime.Gosched() { // wait until the copy has begun
				if _, err := readBank(part); err == nil || errors.Is(err, store.ErrUnfinished) {
					break
				}
			}
			for range src.IntN(100) * n {
				runtime.Gosched()
			}
			cmd.Process.Kill()
			cmd.Wait()
			if left(part) {
				t.Errorf("seed %d: the part of a copy opens as a bank", seed)
			}
			if _, err := readBank(part); errors.Is(err, store.ErrUnfinished) {
				unfinished++
				if _, errs, status := bankAlone(t, "", "copy", from, to); status != statusFailed || !strings.Contains(errs, "remains from an interrupted copy: remove it, then copy again") {
					t.Errorf("seed %d: copied over what is left: exit status %d, %s", seed, status, errs)
				}
			}
			left(to)
			for _, place := range []string{part, to} {
				if err := remove(place); err != nil {
					t.Fatal(err)
				}
			}
		}
		if unfinished == 0 {
			t.Errorf("seed %d: no copy to %s was cut short", seed, place.At(to))
		}
		if _, errs, status := bankAlone(t, "", "copy", from, to); status != statusDone || !left(to) {
			t.Errorf("seed %d: copied at last: %s", seed, errs)
		}
	}
	to := filepath.Join(dir, "small")
	for _, blocks := range []int{2, 600, 1100} { // blocks of 512 bytes: too few to create a bank, and too few to fill it
		cmd := exec.Command("sh", "-c", fmt.Sprintf(`ulimit -f %d; exec bourse bank copy "$0" "$1"`, blocks), from, to)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != statusFailed || !strings.Contains(string(out), "raise the file size limit") || strings.Count(string(out), "\n") != 1 {
			t.Errorf("%d blocks: exit status %d, %s", blocks, cmd.ProcessState.ExitCode(), out)
		}
		for _, name := range []string{to, to + ".part"} {
			if _, err := os.Stat(name); err == nil {
				t.Errorf("%d blocks: %s is left", blocks, name)
			}
		}
	}
}

// TestWithoutPasswords checks that no message contains a password.
func TestWithoutPasswords(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"open postgres://bank:geheim@db/x: no": "open postgres://bank@db/x: no",
		"postgresql://:ge:heim@/x":             "postgresql://@/x",
		"postgres://bank@db/x":                 "postgres://bank@db/x",
		"postgres://db:5432/x@y":               "postgres://db@y", // the function removes too much rather than too little
	} {
		if got := place.WithoutPasswords(in); got != want {
			t.Errorf("%q = %q, want %q", in, got, want)
		}
	}
	if got := place.At("postgres://bank:geheim@db/x").String(); got != "postgres://bank@db/x?ledger=bourse" {
		t.Error(got)
	}
	if _, err := postgres.Create("postgres://bank:geheim@db/x?ledger=%00", store.Options{}); err == nil || place.WithoutPasswords(err.Error()) != err.Error() {
		t.Error(err)
	}
}
