package store

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A meanwhile is a file system that calls a function once, after the files of a directory have
// been listed.
type meanwhile struct {
	vfs.FS
	do func()
}

func (m *meanwhile) List(dir string) ([]string, error) {
	names, err := m.FS.List(dir)
	if do := m.do; do != nil {
		m.do = nil
		do()
	}
	return names, err
}

// TestOpenedMeanwhile checks that a closed ledger can be read even if another process opens
// it, and thereby removes files, between the listing of its files and their opening.
func TestOpenedMeanwhile(t *testing.T) {
	t.Parallel()
	mem := vfs.NewMem()
	closeJournal(t, create(t, "bank", Options{FS: mem}))
	m := &meanwhile{FS: mem}
	opened := false
	m.do = func() {
		j, _, err := Open("bank", Options{FS: mem})
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { closeJournal(t, j) })
		opened = true
	}
	r, err := OpenReader("bank", Options{FS: m})
	if err != nil || !opened {
		t.Fatalf("opened meanwhile %v: %v", opened, err)
	}
	for range r.Entries() {
	}
	if r.Err() != nil {
		t.Error(r.Err())
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
