//go:build unix

package store

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"bourse/bank"
	"bourse/bank/audit"
)

// waiting is the number of parallel tests per processor. The tests spend most of their time
// waiting for disks.
const waiting = 3

// TestMain makes the test binary a bank process. With BANK_DIR set, it processes orders
// without end and prints each receipt. With BANK_DISK set, it runs banks on failing disks.
func TestMain(m *testing.M) {
	if text := os.Getenv("BANK_DISK"); text != "" {
		runSeries(text)
		os.Exit(0)
	}
	if dir := os.Getenv("BANK_DIR"); dir != "" {
		serve(dir)
	}
	if err := flag.Set("test.parallel", strconv.Itoa(waiting*runtime.GOMAXPROCS(0))); err != nil { // -parallel overrides it
		panic(err)
	}
	os.Exit(m.Run())
}

func serve(dir string) {
	if os.Getenv("BANK_FILE_SIZE") != "" {
		limit := syscall.Rlimit{Cur: 1 << 20, Max: 1 << 20}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			panic(err)
		}
	}
	s, err := OpenSequencer(dir, Options{BalancesEvery: 5, memTable: 64 << 10})
	if err != nil {
		fmt.Fprintln(os.Stderr, "bourse:", err)
		os.Exit(1)
	}
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	go func() {
		enc := bufio.NewWriter(w)
		for n := range 1 << 40 {
			fmt.Fprintf(enc, `{"id":"%d-%d","from":"mint","to":"user:%d","amount":1}`+"\n", os.Getpid(), n, n%10)
		}
	}()
	err = Apply(context.Background(), s.Do, r, os.Stdout, 8, func() float64 { return 0 })
	fmt.Fprintln(os.Stderr, "bourse:", err)
	os.Exit(1)
}

// child starts a bank on dir.
func child(t *testing.T, dir string, env ...string) (cmd *exec.Cmd, out, errs *bytes.Buffer) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), append(env, "BANK_DIR="+dir)...)
	out, errs = new(bytes.Buffer), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = out, errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out, errs
}

// TestKill checks that answered requests survive if the process is killed at any time, even
// during opening, repeatedly on the same ledger.
func TestKill(t *testing.T) {
	t.Parallel()
	kills := 6
	if *whole {
		kills = 500
	}
	dir := filepath.Join(t.TempDir(), "bank")
	closeJournal(t, create(t, dir, Options{}))
	acked := make(map[string]Receipt)
	for k := 0; k < kills || len(acked) == 0 && k < 10*kills; k++ {
		cmd, out, errs := child(t, dir)
		longer := 1 + k/kills // a busy machine may answer no request in time
		time.Sleep(time.Duration(rand.IntN(200*longer)) * time.Millisecond)
		cmd.Process.Kill()
		cmd.Wait()
		if errs.Len() > 0 {
			t.Fatalf("kill %d: %s", k, errs)
		}
		if r, err := audit.Audit(dir, audit.Options{}); err != nil || !r.Clean() {
			t.Fatalf("kill %d: audited: %+v, %v", k, r, err)
		}
		for line := range bytes.Lines(out.Bytes()) {
			var o Outcome
			if json.Unmarshal(line, &o) == nil && o.Seq > 0 { // the last line may be incomplete
				h, err := ParseReceipt(fmt.Sprintf("%d:%s", o.Seq, o.Hash))
				if err != nil {
					t.Fatal(err)
				}
				acked[o.ID] = h
			}
		}
	}
	s, err := OpenSequencer(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	closeSequencer(t, s)
	r, err := OpenReader(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	kept := make(map[string]Receipt)
	for e, hash := range r.Entries() {
		if _, ok := kept[e.ID]; ok {
			t.Errorf("%s is booked twice", e.ID)
		}
		kept[e.ID] = Receipt{e.Seq, hash}
	}
	for id, want := range acked {
		if kept[id] != want {
			t.Errorf("%s was answered %v, is %v", id, want, kept[id])
		}
	}
	if r.Err() != nil || len(acked) == 0 {
		t.Errorf("%d answers, %v", len(acked), r.Err())
	}
	t.Logf("%d kills, %d answers, %d entries", kills, len(acked), len(kept))
}

// TestInUse checks that a ledger can be audited and read, as of one point in time, while
// another process writes it.
func TestInUse(t *testing.T) {
	t.Parallel()
	looks := 8
	if *whole {
		looks = 300
	}
	dir := filepath.Join(t.TempDir(), "bank")
	closeJournal(t, create(t, dir, Options{}))
	cmd, _, _ := child(t, dir)
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	var last int64
	// The writer may add entries faster than the audits read them, so that audits take longer
	// and longer.
	for n, began := 0, time.Now(); last == 0 || n < looks && (*whole || time.Since(began) < 20*time.Second); n++ {
		a, err := audit.Audit(dir, audit.Options{})
		if err != nil || !a.Clean() || a.Entries < last {
			t.Fatalf("audit %d: %v, %v, %d entries after %d", n, err, a.Findings, a.Entries, last)
		}
		r, err := OpenReader(dir, Options{})
		if err != nil {
			t.Fatalf("look %d: %v", n, err)
		}
		last = 0
		for range 2 { // both readings must give the same entries
			before := last
			last = 0
			for range r.Entries() {
				last++
			}
			if r.Err() != nil || last < a.Entries || before > 0 && last != before {
				t.Fatalf("look %d: %v, %d entries after %d and %d", n, r.Err(), last, a.Entries, before)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// hang is the time after which a process counts as hanging, even on a busy machine.
const hang = 2 * time.Minute

// TestPlainFailures checks that a failure prints at most three lines with the place and the
// remedy, exits with an error status, and never hangs.
func TestPlainFailures(t *testing.T) {
	t.Parallel()
	fails := func(name, dir, cure string, env ...string) {
		t.Helper()
		cmd, _, errs := child(t, dir, env...)
		timer := time.AfterFunc(hang, func() { cmd.Process.Kill() })
		defer timer.Stop()
		err := cmd.Wait()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 {
			t.Errorf("%s: %v, want exit status 1", name, err)
		}
		if text := errs.String(); strings.Count(text, "\n") > 3 || !strings.Contains(text, dir) || !strings.Contains(text, cure) || strings.Contains(text, "goroutine") {
			t.Errorf("%s: said %q, want %q and %q", name, text, dir, cure)
		}
	}
	tmp := t.TempDir()
	fails("no such directory", filepath.Join(tmp, "nowhere"), "found no ledger")

	full := filepath.Join(tmp, "full")
	closeJournal(t, create(t, full, Options{}))
	fails("file too large", full, "ulimit -f", "BANK_FILE_SIZE=1")
	s, err := OpenSequencer(full, Options{})
	if err != nil {
		t.Fatalf("after the file was too large: %v", err)
	}
	fails("second process", full, "another process has the ledger open")
	link := filepath.Join(tmp, "link")
	if err := os.Symlink(full, link); err != nil {
		t.Fatal(err)
	}
	fails("second process by a second path", link, "another process has the ledger open")
	if _, _, err := Open(link, Options{}); !errors.Is(err, ErrLocked) {
		t.Errorf("second path in one process: %v", err)
	}
	if err := os.Remove(filepath.Join(full, lockFile)); err != nil {
		t.Fatal(err)
	}
	fails("second process, lock file gone", full, "another process has the ledger open")
	closeSequencer(t, s)

	j, l, err := Open(full, Options{})
	if err != nil {
		t.Fatalf("lock file gone: %v", err)
	}
	if l.Issued() == (bank.Amount{}) {
		t.Error("nothing was kept")
	}
	closeJournal(t, j)
}
