package store

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"testing"

	"bourse/bank"
	"bourse/bank/audit"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// TestAreas checks that groups of any size are durable once they are flushed, whether they fit
// into the rest of an area, only into a new area, or into none.
func TestAreas(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	src := rand.New(rand.NewPCG(seed, 1))
	mem := vfs.NewCrashableMem()
	j := create(t, "bank", Options{FS: mem, BalancesEvery: 1000})
	tr := newTrader(bank.New(j), seed)
	groups := 40
	if testing.Short() {
		groups = 10
	}
	for group := range groups {
		tr.trade(t, 1+src.Int64N(1500))
		if err := j.Flush(); err != nil {
			t.Fatal(err)
		}
		left, _, err := Open("bank", Options{FS: mem.CrashClone(vfs.CrashCloneCfg{})})
		if err != nil || left.Head() != j.Head() {
			t.Fatalf("seed %d, group %d: %v", seed, group, err)
		}
		left.release()
	}
	closeJournal(t, j)
}

// TestAcksAfterwards checks that a reproducible ledger can become a live one, even if the power
// is cut at any file operation of the opening that creates the ACKS file.
func TestAcksAfterwards(t *testing.T) {
	t.Parallel()
	mem := vfs.NewCrashableMem()
	j := create(t, "bank", Options{FS: mem, Reproducible: true})
	newTrader(bank.New(j), 1).trade(t, 30)
	closeJournal(t, j)
	head := j.Head()
	var mu sync.Mutex // goroutines of the database also call this
	cuts := 0
	again := func(fs *vfs.MemFS, level int) {
		mu.Lock()
		defer mu.Unlock()
		clone := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: level, RNG: rand.New(rand.NewPCG(1, 1))})
		if r, err := audit.Audit("bank", audit.Options{FS: clone}); err != nil || !r.Clean() || r.Head != head.String() {
			t.Errorf("cut %d: %+v, %v", cuts, r, err)
		}
		cuts++
		j, _, err := Open("bank", Options{FS: clone})
		if err != nil || j.Head() != head {
			t.Errorf("cut %d: %v", cuts, err)
			return
		}
		closeJournal(t, j)
	}
	fs := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			again(mem, 0)
			again(mem, 100)
		}
		return nil
	}))
	j, _, err := Open("bank", Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	closeJournal(t, j)
	if cuts == 0 {
		t.Error("no cuts")
	}
}

// FuzzAcks checks that arbitrary bytes never yield an invalid ack, and that encoding an ack
// again gives the bytes that were read, except for the padding to a multiple of 64 bytes.
func FuzzAcks(f *testing.F) {
	seed := (&ack{era: 3, first: 5, head: Head{9, Genesis()}, value: []byte("group")}).append(nil)
	f.Add(seed)
	f.Add(append(seed[:ackHeader+5:ackHeader+5], bytes.Repeat([]byte{acksFill}, ackHeader)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, n, ok := parseAck(b)
		if !ok {
			return
		}
		again := a.append(nil)
		if end := ackHeader + len(a.value); len(again) != n || !bytes.Equal(again[:end], b[:end]) {
			t.Errorf("%x is read as %+v", b[:n], a)
		}
	})
}
