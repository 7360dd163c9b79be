package store

import (
	"strings"
	"sync/atomic"
	"testing"

	"bourse/bank"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// An idleFS stops syncing logs when idle is set. It simulates a disk between a write and the
// sync of that write.
type idleFS struct {
	vfs.FS
	idle *atomic.Bool
}

func (fs idleFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := fs.FS.Create(name, c)
	if err != nil || !strings.HasSuffix(name, ".log") {
		return f, err
	}
	return idleFile{f, fs.idle}, nil
}

type idleFile struct {
	vfs.File
	idle *atomic.Bool
}

func (f idleFile) Sync() error {
	if f.idle.Load() {
		return nil
	}
	return f.File.Sync()
}

func (f idleFile) SyncData() error { return f.Sync() }

func (f idleFile) SyncTo(int64) (bool, error) { return true, f.Sync() }

// TestReadIsDurable checks that the entries that a reader has read from a ledger in use survive
// a power cut, even if the writer had not synced them.
func TestReadIsDurable(t *testing.T) {
	t.Parallel()
	mem, idle := vfs.NewCrashableMem(), new(atomic.Bool)
	j := create(t, "bank", Options{FS: idleFS{mem, idle}})
	defer j.release()
	idle.Store(true)
	l := bank.New(j)
	for n := range 3 {
		e := asked(n, false)
		if err := l.Book(&e); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Flush(); err != nil {
		t.Fatal(err)
	}
	read := func(fs vfs.FS, want int64) {
		r, err := OpenReader("bank", Options{FS: fs})
		if err != nil {
			t.Fatal(err)
		}
		var n int64
		for range r.Entries() {
			n++
		}
		if n != want || r.Err() != nil {
			t.Errorf("%d entries, %v; want %d", n, r.Err(), want)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	read(mem.CrashClone(vfs.CrashCloneCfg{}), 0)
	read(mem, 3)
	read(mem.CrashClone(vfs.CrashCloneCfg{}), 3)
}
