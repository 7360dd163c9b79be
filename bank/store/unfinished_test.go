package store

import (
	"errors"
	"testing"

	"bourse/bank"
	"bourse/bank/audit"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestUnfinished checks that an unfinished copy cannot be opened, read or audited at any time
// while it is made, even if the copying is interrupted. When the copy is finished, it can be
// opened as a bank. If the copy is discarded, no ledger remains.
func TestUnfinished(t *testing.T) {
	t.Parallel()
	mem := vfs.NewMem()
	shut := func(when string) {
		t.Helper()
		_, _, opening := Open("copy", Options{FS: mem})
		_, reading := OpenReader("copy", Options{FS: mem})
		_, auditing := audit.Audit("copy", audit.Options{FS: mem})
		_, making := Create("copy", Options{FS: mem})
		for who, err := range map[string]error{"opens": opening, "reads": reading, "makes": making, "asks for room": Vacant("copy", Options{FS: mem})} {
			if !errors.Is(err, ErrUnfinished) {
				t.Errorf("%s: who %s it is told %v, want %v", when, who, err, ErrUnfinished)
			}
		}
		if !errors.Is(auditing, audit.ErrUnfinished) {
			t.Errorf("%s: who audits it is told %v, want %v", when, auditing, audit.ErrUnfinished)
		}
	}
	j, err := Create("copy", Options{FS: mem, Unfinished: true})
	if err != nil {
		t.Fatal(err)
	}
	shut("empty")
	tr := newTrader(bank.New(j), 1)
	tr.trade(t, 20)
	if err := j.Flush(); err != nil {
		t.Fatal(err)
	}
	shut("under way")
	closeJournal(t, j)
	shut("closed")
	if r, err := audit.Audit("copy", audit.Options{FS: mem, Unfinished: true}); err != nil || !r.Clean() {
		t.Errorf("audit by who makes it: %v, %v", r, err)
	}
	if err := Finish("copy", Options{FS: mem}); err != nil {
		t.Fatal(err)
	}
	if r, err := audit.Audit("copy", audit.Options{FS: mem}); err != nil || !r.Clean() {
		t.Errorf("finished: %v, %v", r, err)
	}
	j, _, err = Open("copy", Options{FS: mem})
	if err != nil {
		t.Fatal(err)
	}
	closeJournal(t, j)
	if err := Vacant("copy", Options{FS: mem}); !errors.Is(err, ErrExists) {
		t.Errorf("where a ledger is: %v, want %v", err, ErrExists)
	}
	if err := mem.MkdirAll("full", 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := mem.Create("full/left", vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := Create("full", Options{FS: mem}); !errors.Is(err, ErrOccupied) {
		t.Errorf("where something else is: %v, want %v", err, ErrOccupied)
	}
	if err := Discard("copy", Options{FS: mem}); err != nil {
		t.Fatal(err)
	}
	if names, err := mem.List("copy"); err == nil && len(names) > 0 {
		t.Errorf("%v are left", names)
	}
}
