package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"bourse/bank/store"
	"bourse/bank/store/postgres"
	"bourse/bank/store/postgres/pgtest"
)

// TestCopyInterrupted promises that a copy which is broken off, or whose ledger is
// not clean, leaves nothing that could be taken for a bank, in a directory or in
// PostgreSQL.
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

// TestWithoutPasswords checks that no message tells a password.
func TestWithoutPasswords(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"open postgres://bank:geheim@db/x: no": "open postgres://bank@db/x: no",
		"postgresql://:ge:heim@/x":             "postgresql://@/x",
		"postgres://bank@db/x":                 "postgres://bank@db/x",
		"postgres://db:5432/x@y":               "postgres://db@y", // rather too much than too little
	} {
		if got := withoutPasswords(in); got != want {
			t.Errorf("%q = %q, want %q", in, got, want)
		}
	}
	if got := placeName("postgres://bank:geheim@db/x"); got != "postgres://bank@db/x?ledger=bourse" {
		t.Error(got)
	}
	if _, err := postgres.Create("postgres://bank:geheim@db/x?ledger=%00", store.Options{}); err == nil || withoutPasswords(err.Error()) != err.Error() {
		t.Error(err)
	}
}
