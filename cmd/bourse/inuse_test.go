//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadInUse checks that commands print a ledger as of a single time while 'bank apply'
// writes to the ledger. 'bank verify' must find the log complete, balances must add up to the
// issued amount, and exports and statements must not fail.
func TestReadInUse(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "bank")
	if _, errs, status := bankAlone(t, "", "init", dir); status != statusDone {
		t.Fatal(errs)
	}
	if _, errs, status := bankAlone(t, "", "mint", dir, "user:ann", "1000", "--id", "mint"); status != statusDone {
		t.Fatal(errs)
	}
	cmd, in, answers, _ := applying(t, dir)
	defer cmd.Wait()
	defer cmd.Process.Kill()
	go func() {
		for n := range 1 << 30 {
			if _, err := fmt.Fprintf(in, `{"id":"%d","from":"user:ann","to":"user:%d","amount":"0.000001"}`+"\n", n, n%1000); err != nil {
				return
			}
		}
	}()
	if !answers.Scan() {
		t.Fatal("no answer")
	}
	go func() {
		for answers.Scan() {
		}
	}()
	read := func(args ...string) []byte {
		t.Helper()
		var out, errs bytes.Buffer
		cmd := exec.Command("bourse", args...)
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil || out.Len() == 0 || errs.Len() > 0 && !bytes.HasSuffix(errs.Bytes(), []byte(" is open: anyone who can write to it may transfer any money\n")) {
			t.Errorf("%v: %v, %s", args, err, &errs)
		}
		return out.Bytes()
	}
	entries := 0
	for range 4 {
		log := read("bank", "log", dir)
		if out, errs, status := bankAlone(t, string(log), "verify", "-"); status != statusDone {
			t.Errorf("bank verify: %s%s", out, errs)
		}
		if n := bytes.Count(log, []byte("\n")); n < entries {
			t.Errorf("%d lines after %d", n, entries)
		} else {
			entries = n
		}
		opening := read("bank", "balance", dir)
		copy := filepath.Join(t.TempDir(), "copy")
		if _, errs, status := bankAlone(t, "", "init", copy); status != statusDone {
			t.Fatal(errs)
		}
		if _, errs, status := bankAlone(t, string(opening), "import", copy, "-", "--id", "all"); status != statusDone || !strings.HasPrefix(errs, "issued 1000.000000 ") {
			t.Errorf("balances of one moment: %s", errs)
		}
		read("ledger", "show", dir, "--account", "user:ann")
		read("ledger", "export", dir, "--format", "hledger")
		read("ledger", "statement", dir, "--user", "user:ann")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	in.Close()
	t.Logf("%d entries at the last look", entries)
}
