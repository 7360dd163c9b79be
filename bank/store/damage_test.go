package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"bourse/bank"
	"bourse/bank/audit"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// crashed returns what a power cut left of a bank that was open, groups groups
// after it began, with what it had answered.
func crashed(t testing.TB, groups, unsynced int, src *rand.Rand) (*vfs.MemFS, map[string]Receipt) {
	t.Helper()
	mem := vfs.NewCrashableMem()
	opts := Options{FS: mem, BalancesEvery: 9}
	s := NewSequencer(create(t, "bank", opts), bank.New(nil))
	s.ledger.Reset(s.journal)
	acked := make(map[string]Receipt)
	for n := range groups {
		if n == groups/2 { // some of it in tables
			closeSequencer(t, s)
			var err error
			if s, err = OpenSequencer("bank", opts); err != nil {
				t.Fatal(err)
			}
		}
		e := asked(n)
		acked[e.ID] = do(t, s, e)
	}
	return mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: unsynced, RNG: src}), acked
}

// harms are what may happen to a file that is left alone.
var harms = map[string]func(b []byte, src *rand.Rand) []byte{
	"bit flipped": func(b []byte, src *rand.Rand) []byte {
		b[used(b, src)] ^= 1 << src.IntN(8)
		return b
	},
	"block zeroed": func(b []byte, src *rand.Rand) []byte {
		size := 512 << (3 * src.IntN(2))
		at := used(b, src) / size * size
		clear(b[at:min(at+size, len(b))])
		return b
	},
	"end cut off": func(b []byte, src *rand.Rand) []byte { return b[:src.IntN(len(b))] },
	"removed":     func([]byte, *rand.Rand) []byte { return nil },
}

// used returns the place of a byte that is not 0, if there is one.
func used(b []byte, src *rand.Rand) int {
	var places []int
	for at := range b {
		if b[at] != 0 {
			places = append(places, at)
		}
	}
	if len(places) == 0 {
		return src.IntN(len(b))
	}
	return places[src.IntN(len(places))]
}

// TestCrashDamage promises that after a power cut, too, any bit flipped, block
// zeroed, end cut off or file removed is noticed when the ledger is audited or
// opened, or made good: nothing that was acknowledged is lost without a word, the
// last entry included.
func TestCrashDamage(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	src := rand.New(rand.NewPCG(seed, 1))
	mutations := 400
	if *whole {
		mutations = 10_000
	}
	var noticed, whole int
	for n := 0; noticed+whole < mutations; n++ {
		groups := 20 + src.IntN(20)
		left, acked := crashed(t, groups, 100*(n%2), src)
		for range 100 {
			fs := vfs.NewCrashableMem()
			if ok, err := vfs.Clone(left, fs, "bank", "bank", vfs.CloneSync); !ok || err != nil {
				t.Fatal(err)
			}
			what := harm(t, fs, src)
			if what == "" {
				continue
			}
			r, err := audit.Audit("bank", audit.Options{FS: fs})
			if err != nil || !r.Clean() {
				noticed++
				continue
			}
			switch err := reopened(fs, acked); {
			case errors.Is(err, ErrDamaged):
				noticed++
			case err != nil:
				t.Errorf("seed %d: %s: audited clean, and %v", seed, what, err)
			case r.Entries != int64(len(acked)):
				t.Errorf("seed %d: %s: %d entries audited, %d acknowledged", seed, what, r.Entries, len(acked))
			default:
				whole++
			}
		}
	}
	if noticed == 0 || whole == 0 {
		t.Errorf("%d noticed, %d made good", noticed, whole)
	}
	t.Logf("%d mutations after a power cut: %d noticed; %d of what means nothing, or is made good from a copy", noticed+whole, noticed, whole)
}

// harm does something to a file of the bank and says what, empty if nothing came
// of it.
func harm(t testing.TB, fs vfs.FS, src *rand.Rand) string {
	t.Helper()
	names, err := fs.List("bank")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	name := names[src.IntN(len(names))]
	if name == lockFile {
		return ""
	}
	kinds := slices.Sorted(maps.Keys(harms))
	kind := kinds[src.IntN(len(kinds))]
	path := "bank/" + name
	old, err := readFile(fs, path, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	if kind == "removed" {
		if err := fs.Remove(path); err != nil {
			t.Fatal(err)
		}
		return name + " " + kind
	}
	if len(old) == 0 {
		return ""
	}
	b := harms[kind](slices.Clone(old), src)
	if slices.Equal(b, old) {
		return ""
	}
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = f.Write(b); err == nil {
		err = errors.Join(f.Sync(), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s %s, %d bytes", name, kind, len(b))
}

// reopened opens the bank, which must hold what was acknowledged.
func reopened(fs vfs.FS, acked map[string]Receipt) error {
	s, err := OpenSequencer("bank", Options{FS: fs, Fatal: func(err error) { panic(err) }})
	if err != nil {
		return err
	}
	defer s.Close()
	if n := s.ledger.Entries(); n != int64(len(acked)) {
		return fmt.Errorf("%d entries are there, %d were acknowledged", n, len(acked))
	}
	for id, want := range acked {
		var n int
		fmt.Sscanf(id, "req-%d", &n)
		if got, err := s.Do(context.Background(), asked(n)); err != nil || got != want {
			return fmt.Errorf("%s was answered %v, is now %v, %v", id, want, got, err)
		}
	}
	return nil
}

// TestRestored checks that groups which a power cut kept from the database stand
// in the acks, and are read by who looks without opening the bank.
func TestRestored(t *testing.T) {
	t.Parallel()
	fs, acked := crashed(t, 24, 0, nil)
	opts := Options{FS: fs}
	r, err := OpenReader("bank", opts)
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for e, hash := range r.Entries() {
		if want := acked[e.ID]; want != (Receipt{e.Seq, hash}) {
			t.Errorf("%s is read as %v, was %v", e.ID, Receipt{e.Seq, hash}, want)
		}
		read++
	}
	if err := errors.Join(r.Err(), r.Close()); err != nil || read != len(acked) {
		t.Errorf("%d entries read, %d acknowledged: %v", read, len(acked), err)
	}
	j, l, err := Open("bank", opts)
	if err != nil || l.Entries() != int64(len(acked)) {
		t.Fatalf("opened with %v: %v", l, err)
	}
	closeJournal(t, j)
}

// TestAreas promises that groups of any size are durable once they are flushed,
// whether they fit into what is left of an area, into an area, or into none.
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

// TestAcksAfterwards promises that a reproducible ledger can go on as a live one, also
// when the power is cut at any operation of the opening that first keeps acks.
func TestAcksAfterwards(t *testing.T) {
	t.Parallel()
	mem := vfs.NewCrashableMem()
	j := create(t, "bank", Options{FS: mem, Reproducible: true})
	newTrader(bank.New(j), 1).trade(t, 30)
	closeJournal(t, j)
	head := j.Head()
	var mu sync.Mutex // the database's goroutines come here, too
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

// FuzzAcks checks that no bytes make a bad ack, and that what is read is what
// would be written.
func FuzzAcks(f *testing.F) {
	f.Add((&ack{era: 3, first: 5, head: Head{9, Genesis()}, value: []byte("group")}).append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, n, ok := parseAck(b); ok && string(a.append(nil)) != string(b[:n]) {
			t.Errorf("%x is read as %+v", b[:n], a)
		}
	})
}
