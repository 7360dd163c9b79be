package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/audit"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// crashed returns the files of a bank after a power cut, a number of groups after its start,
// and the receipts that it had returned. If hoarded is set, no file was ever removed.
func crashed(t testing.TB, groups, unsynced int, hoarded bool, src *rand.Rand) (*vfs.MemFS, map[string]Receipt) {
	t.Helper()
	mem := vfs.NewCrashableMem()
	opts := Options{FS: mem, BalancesEvery: 9, memTable: 32 << 10}
	if hoarded {
		opts.FS = hoardFS{mem}
	}
	s := NewSequencer(create(t, "bank", opts), bank.New(nil))
	s.ledger.Reset(s.journal)
	acked := make(map[string]Receipt)
	for n := range groups {
		if n == groups/2 && groups%4 > 0 { // Reopening moves some of the data into tables.
			closeSequencer(t, s)
			var err error
			if s, err = OpenSequencer("bank", opts); err != nil {
				t.Fatal(err)
			}
		}
		e := asked(n, false)
		acked[e.ID] = do(t, s, e)
	}
	left := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: unsynced, RNG: src})
	s.journal.release()
	return left, acked
}

// A hoardFS keeps the files that Pebble removes.
type hoardFS struct{ vfs.FS }

func (hoardFS) Remove(string) error { return nil }

// harms are kinds of damage to a stored file.
var harms = map[string]func(b []byte, src *rand.Rand) []byte{
	"bit flipped": func(b []byte, src *rand.Rand) []byte {
		b[place(b, src)] ^= 1 << src.IntN(8)
		return b
	},
	"block zeroed": func(b []byte, src *rand.Rand) []byte {
		size := 512 << (3 * src.IntN(2))
		at := place(b, src) / size * size
		clear(b[at:min(at+size, len(b))])
		return b
	},
	"end cut off": func(b []byte, src *rand.Rand) []byte { return b[:src.IntN(len(b))] },
	"removed":     func([]byte, *rand.Rand) []byte { return nil },
}

// place returns the offset of a byte. In every other call, the byte is part of the data rather
// than of the padding.
func place(b []byte, src *rand.Rand) int {
	var places []int
	for at := range b {
		if b[at] != 0 && b[at] != acksFill {
			places = append(places, at)
		}
	}
	if len(places) == 0 || src.IntN(2) == 0 {
		return src.IntN(len(b))
	}
	return places[src.IntN(len(places))]
}

// inUse returns the tables that a bank uses, and its newest log and manifest.
func inUse(t testing.TB, left *vfs.MemFS) map[string]bool {
	t.Helper()
	db, err := pebble.Open("bank", &pebble.Options{FS: left, ReadOnly: true, FormatMajorVersion: format, Logger: logger{}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	levels, err := db.SSTables()
	if err != nil {
		t.Fatal(err)
	}
	use := make(map[string]bool)
	for _, level := range levels {
		for _, table := range level {
			use[fmt.Sprintf("%06d.sst", table.FileNum)] = true
		}
	}
	names, err := left.List("bank")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	for _, pattern := range []string{"*.log", "MANIFEST-*"} {
		last := ""
		for _, name := range names {
			if ok, _ := path.Match(pattern, name); ok {
				last = name
			}
		}
		use[last] = true
	}
	return use
}

// TestCrashDamage checks that any flipped bit, zeroed block, truncated file or removed file
// after a power cut is detected when the ledger is audited or opened, so that no acknowledged
// entry is lost silently. There are three exceptions. The end of the manifest looks like an
// interrupted write and is restored from the logs, and a missing log is restored from the acks.
// A table whose writing the power cut interrupted was never used. Pebble itself may remove
// files that it no longer needs.
func TestCrashDamage(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	src, chance := rand.New(rand.NewPCG(seed, 1)), rand.NewChaCha8([32]byte{byte(seed)})
	mutations := 400
	if *whole {
		mutations = 10_000
	}
	var done, noticed, old, madeGood, unfinished, removed int
	for n := 0; done < mutations; n++ {
		groups := 20 + src.IntN(200)
		left, acked := crashed(t, groups, 50*(n%3), n%2 == 0, src)
		if r, err := audit.Audit("bank", audit.Options{FS: left}); err != nil || !r.Clean() {
			t.Fatalf("seed %d: before any harm: %+v, %v", seed, r, err)
		}
		use := inUse(t, left)
		for range 100 {
			fs := vfs.NewCrashableMem()
			if ok, err := vfs.Clone(left, fs, "bank", "bank", vfs.CloneSync); !ok || err != nil {
				t.Fatal(err)
			}
			name, what := harm(t, fs, src)
			if what == "" {
				continue
			}
			done++
			r, err := audit.Audit("bank", audit.Options{FS: fs, Chance: chance})
			if err != nil || !r.Clean() {
				noticed++
				if path.Ext(name) == sstable && !use[name] {
					old++
				}
				continue
			}
			switch err := reopened(fs, acked); {
			case errors.Is(err, ErrDamaged):
				noticed++
			case err != nil:
				t.Errorf("seed %d: %s %s: audited clean, and %v", seed, name, what, err)
			case r.Entries != int64(len(acked)):
				t.Errorf("seed %d: %s %s: %d entries audited, %d acknowledged", seed, name, what, r.Entries, len(acked))
			case what == "removed" && !use[name]:
				removed++
			case strings.HasPrefix(name, "MANIFEST") && use[name], what == "removed" && path.Ext(name) == ".log":
				madeGood++
			case path.Ext(name) == sstable && !use[name]:
				unfinished++
			default:
				t.Errorf("seed %d: %s %s: not noticed", seed, name, what)
			}
		}
	}
	if noticed == 0 {
		t.Error("nothing was noticed")
	}
	t.Logf("%d mutations after a power cut: %d noticed, %d of them in tables used before; of the others %d to the end of the manifest or a log, made good; %d to a table that the cut left unfinished; %d the removal of what Pebble removes", done, noticed, old, madeGood, unfinished, removed)
}

// TestOldFiles checks that a flipped bit after a power cut is detected in any log that another
// log follows, except in its trailer, and in tables that were used before.
func TestOldFiles(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	left, _ := crashed(t, 600, 0, true, nil)
	use := inUse(t, left)
	names, err := left.List("bank")
	if err != nil {
		t.Fatal(err)
	}
	noticed := make(map[string]int)
	for i, name := range names {
		ext := path.Ext(name)
		if info, err := left.Stat("bank/" + name); err != nil || ext != ".log" && ext != sstable || use[name] || info.Size() == 0 {
			continue
		}
		fs := vfs.NewMem()
		if ok, err := vfs.Clone(left, fs, "bank", "bank"); !ok || err != nil {
			t.Fatal(err)
		}
		b, err := readFile(fs, "bank/"+name, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		src := rand.New(rand.NewPCG(seed, uint64(i)))
		at := src.IntN(len(b) - 11) // the trailer of a log has no checksum
		b[at] ^= 1 << src.IntN(8)
		f, err := fs.Create("bank/"+name, vfs.WriteCategoryUnspecified)
		if err == nil {
			_, err = f.Write(b)
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err := audit.Audit("bank", audit.Options{FS: fs})
		named := func(f audit.Finding) bool { return f.File == name }
		if err != nil || !r.Clean() && !slices.ContainsFunc(r.Findings, named) { // the loss of complete entries may be detected first
			t.Errorf("seed %d: %s: %+v, %v", seed, name, r, err)
		}
		if !r.Clean() {
			noticed[ext]++
		} else if ext == ".log" {
			t.Errorf("seed %d: %s: not noticed at %d of %d", seed, name, at, len(b))
		}
	}
	if noticed[".log"] == 0 || noticed[sstable] == 0 {
		t.Errorf("seed %d: noticed %v", seed, noticed)
	}
	t.Logf("noticed %v", noticed)
}

// harm damages a file of the bank and returns a description of the damage, or "" if the file
// did not change.
func harm(t testing.TB, fs vfs.FS, src *rand.Rand) (name, what string) {
	t.Helper()
	names, err := fs.List("bank")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	name = names[src.IntN(len(names))]
	if name == lockFile {
		return "", ""
	}
	kinds := slices.Sorted(maps.Keys(harms))
	kind := kinds[src.IntN(len(kinds))]
	full := "bank/" + name
	old, err := readFile(fs, full, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	if kind == "removed" {
		if err := fs.Remove(full); err != nil {
			t.Fatal(err)
		}
		return name, kind
	}
	if len(old) == 0 {
		return "", ""
	}
	b := harms[kind](slices.Clone(old), src)
	if slices.Equal(b, old) {
		return "", ""
	}
	f, err := fs.Create(full, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = f.Write(b); err == nil {
		err = errors.Join(f.Sync(), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return name, fmt.Sprintf("%s, %d bytes", kind, len(b))
}

// reopened opens the bank, which must contain all acknowledged requests.
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
		if got, err := s.Do(context.Background(), asked(n, false)); err != nil || got != want {
			return fmt.Errorf("%s was answered %v, is now %v, %v", id, want, got, err)
		}
	}
	return nil
}

// TestRestored checks that groups that did not reach the database before a power cut are in the
// acks, and that a reader can read them without opening the bank for writing.
func TestRestored(t *testing.T) {
	t.Parallel()
	fs, acked := crashed(t, 24, 0, false, nil)
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
