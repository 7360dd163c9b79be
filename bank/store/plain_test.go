package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// TestPlainErrors checks that a disk failure while a bank opens or runs is reported quickly,
// in one line that names the place and the remedy.
func TestPlainErrors(t *testing.T) {
	t.Parallel()
	for cause, cure := range map[syscall.Errno]string{
		syscall.ENOSPC: "free space on the disk",
		syscall.EDQUOT: "raise the disk quota",
		syscall.EFBIG:  "ulimit -f",
		syscall.EIO:    "replace it, then audit the ledger",
		syscall.EROFS:  "copy the ledger elsewhere",
		syscall.EACCES: "ask its owner",
	} {
		for at, opened := 1, 0; opened < 3; at += 3 { // at later operations, the bank opens and fails while it runs
			mem := vfs.NewMem()
			closeJournal(t, create(t, "books", Options{FS: mem}))
			var ops atomic.Int64
			fs := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
				if op.Kind.ReadOrWrite() == errorfs.OpIsWrite && op.Kind != errorfs.OpFileClose && ops.Add(1) >= int64(at) {
					return cause
				}
				return nil
			}))
			told := make(chan error, 1)
			opts := Options{FS: fs, Fatal: func(err error) {
				select {
				case told <- err:
				default:
				}
				select {}
			}}
			worked := make(chan struct{})
			go func() {
				s, err := OpenSequencer("books", opts)
				for n := 0; err == nil; n++ {
					if n == 0 {
						close(worked)
					}
					_, err = s.Do(context.Background(), transfer(fmt.Sprint(n), "mint", "user:a", 1))
				}
				if !errors.Is(err, ErrUnknown) { // For ErrUnknown, the error reported below contains the cause.
					told <- err
				}
			}()
			select {
			case err := <-told:
				if s := err.Error(); strings.Contains(s, "\n") || !strings.Contains(s, "books") || !strings.Contains(s, cure) {
					t.Errorf("%v from write %d on: told %q, want one line with books and %q", cause, at, s, cure)
				}
			case <-time.After(hang):
				t.Errorf("%v from write %d on: nobody is told", cause, at)
			}
			select {
			case <-worked:
				opened++
			default:
			}
		}
	}
}

// TestHarmedTable checks that a changed table is reported as damage, in one line, both when
// the bank is opened and when it is read.
func TestHarmedTable(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	opts := Options{FS: fs}
	closeJournal(t, create(t, "bank", opts))
	for range 2 { // the second opening turns the log of the first into a table
		j, l, err := Open("bank", opts)
		if err != nil {
			t.Fatal(err)
		}
		tr := newTrader(l, 1)
		tr.now, tr.next = l.Now(), 1000*l.Entries()
		tr.trade(t, 20)
		if err := j.Flush(); err != nil {
			t.Fatal(err)
		}
		j.release()
	}
	names, err := fs.List("bank")
	if err != nil {
		t.Fatal(err)
	}
	tables := 0
	for _, name := range names {
		if !strings.HasSuffix(name, sstable) {
			continue
		}
		tables++
		f, err := fs.Create("bank/"+name, vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	_, _, opening := Open("bank", opts)
	_, reading := OpenReader("bank", opts)
	for _, err := range []error{opening, reading} {
		if tables == 0 || !errors.Is(err, ErrDamaged) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), sstable) {
			t.Errorf("%d tables harmed: %v, want %v in one line that names a table", tables, err, ErrDamaged)
		}
	}
}
