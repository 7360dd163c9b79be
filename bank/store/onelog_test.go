package store

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"syscall"
	"testing"

	"bourse/bank"

	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// TestOneLog promises that a short ledger of a run, which Pebble would keep in one log, has the
// files that Pebble would write, with the same batches in the log; and that balances are those
// that its entries add up to. (Chunks of Pebble's first log do not say how far it was synced.)
func TestOneLog(t *testing.T) {
	t.Parallel()
	write := func(byPebble bool) (map[string][]byte, *bank.Ledger, vfs.FS) {
		mem := vfs.NewMem()
		j := createRun(t, Options{FS: mem, BalancesEvery: 2}, byPebble)
		l := bank.New(j)
		a := newTrader(l, 11)
		for range 20 {
			a.trade(t, 20)
			if err := j.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		closeJournal(t, j)
		names, err := mem.List("bank")
		if err != nil {
			t.Fatal(err)
		}
		files := make(map[string][]byte)
		for _, name := range names {
			if files[name], err = readFile(mem, "bank/"+name, 1<<30); err != nil {
				t.Fatal(err)
			}
		}
		delete(files, headFile) // it has the hash of the log
		files[log] = batches(t, files[log])
		return files, l, mem
	}
	got, l, mem := write(false)
	want, _, _ := write(true)
	if !maps.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("files %v and Pebble's %v, or what is in them, differ", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	j, opened, err := Open("bank", Options{FS: mem})
	if err != nil {
		t.Fatal(err)
	}
	defer closeJournal(t, j)
	if j.replayed != 0 || !maps.Equal(balances(opened), balances(l)) {
		t.Errorf("opened with %d entries replayed and balances %v, want none and %v", j.replayed, balances(opened), balances(l))
	}
}

const log = "000002.log"

// batches returns what stands in a log.
func batches(t *testing.T, log []byte) (all []byte) {
	t.Helper()
	in := record.NewReader(bytes.NewReader(log), firstLog)
	for {
		r, err := in.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		batch, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, batch...)
	}
}

// TestOneLogFails promises that a disk which fails while a run's ledger is written is told of,
// once what it was to write is more than is kept back, and when the ledger is closed.
func TestOneLogFails(t *testing.T) {
	t.Parallel()
	fails := false
	fs := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if fails && op.Kind == errorfs.OpFileWrite {
			return syscall.ENOSPC
		}
		return nil
	}))
	told := make(chan error, 1000)
	j := create(t, "bank", Options{FS: fs, Reproducible: true, Fatal: func(err error) { told <- err }})
	fails = true
	newTrader(bank.New(j), 1).trade(t, 500)
	if err := j.Close(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("closed with %v, want that the disk is full", err)
	}
	select {
	case err := <-told:
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("told of %v", err)
		}
	default:
		t.Error("nobody was told")
	}
}
