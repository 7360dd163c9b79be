//go:build unix

package audit_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/store"
)

// TestKinds checks that an audit neither passes nor hangs if one of the ledger's files is a
// pipe, or a link to an endless device. Without this, anyone who can write the folder could
// block audits or exhaust their memory.
func TestKinds(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "ledger")
	j, err := store.Create(dir, store.Options{})
	check(t, err)
	for i := range 3 {
		check(t, j.Append(&bank.Entry{Seq: int64(i + 1), Kind: bank.Reject, Contract: int64(i)}))
		check(t, j.Flush())
	}
	check(t, j.Close())
	names, err := os.ReadDir(dir)
	check(t, err)
	harmed := 0
	for _, name := range names {
		path := filepath.Join(dir, name.Name())
		if name.Name() == "LOCK" { // LOCK is empty and never read
			continue
		}
		check(t, os.Rename(path, path+".kept"))
		for kind, place := range map[string]func() error{
			"a pipe":         func() error { return syscall.Mkfifo(path, 0o600) },
			"an endless one": func() error { return os.Symlink("/dev/zero", path) },
		} {
			check(t, place())
			for who, read := range map[string]func() bool{
				"audit": func() bool { r, err := audit.Audit(dir, audit.Options{}); return err == nil && r.Clean() },
				"reader": func() bool {
					r, err := store.OpenReader(dir, store.Options{})
					if err != nil {
						return false
					}
					n := 0
					for range r.Entries() {
						n++
					}
					r.Close()
					return n > 3
				},
			} {
				done := apart(read)
				select {
				case clean := <-done:
					if clean && who == "audit" {
						t.Errorf("%s in the place of %s: the audit is clean", kind, name.Name())
					}
				case <-time.After(20 * time.Second):
					t.Fatalf("%s in the place of %s: the %s still waits", kind, name.Name(), who)
				}
			}
			check(t, os.Remove(path))
			harmed++
		}
		check(t, os.Rename(path+".kept", path))
	}
	if r, err := audit.Audit(dir, audit.Options{}); err != nil || !r.Clean() || harmed < 8 {
		t.Errorf("after %d: %v, %v", harmed, r, err)
	}
}

// apart calls f in a separate goroutine and returns a channel that receives the result.
func apart(f func() bool) chan bool {
	done := make(chan bool, 1)
	go func() { done <- f() }()
	return done
}
