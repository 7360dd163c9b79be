package store

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"testing"

	"bourse/bank"
	"bourse/bank/audit"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"
)

// naive computes the hashes of entries, and the head after each, as the package comment defines
// them: with one SHA-256 per entry and tlog's own tree.
func naive(t testing.TB, es []bank.Entry) (hashes []tlog.Hash, heads []Head) {
	t.Helper()
	before := sha256.Sum256([]byte("\x00bourse ledger 2"))
	var leaf []byte
	var tree []tlog.Hash // hashes of the complete leaves
	read := func(tree []tlog.Hash) tlog.HashReaderFunc {
		return func(at []int64) (hs []tlog.Hash, err error) {
			for _, i := range at {
				hs = append(hs, tree[i])
			}
			return hs, nil
		}
	}
	for i := range es {
		n := int64(i / 32)
		if i%32 == 0 {
			leaf = append([]byte{0}, before[:]...)
		}
		entry := appendEntry(nil, &es[i])
		leaf = binary.AppendUvarint(leaf, uint64(len(entry)))
		leaf = append(leaf, entry...)
		leaf = binary.BigEndian.AppendUint32(leaf, crc32.Checksum(entry, crc32.MakeTable(crc32.Castagnoli)))
		before = sha256.Sum256(leaf)
		hashes = append(hashes, before)
		more, err := tlog.StoredHashes(n, leaf[1:], read(tree))
		if err != nil {
			t.Fatal(err)
		}
		with := append(slices.Clone(tree), more...)
		root, err := tlog.TreeHash(n+1, read(with))
		if err != nil {
			t.Fatal(err)
		}
		heads = append(heads, Head{int64(i + 1), root})
		if i%32 == 31 {
			tree = with
		}
	}
	return hashes, heads
}

// someEntries returns n entries of any length, including entries that a bank would reject.
func someEntries(src *rand.Rand, n int) []bank.Entry {
	es := make([]bank.Entry, n)
	for i := range es {
		es[i] = bank.Entry{Seq: int64(i + 1), Time: float64(i), Kind: bank.Reject, Contract: src.Int64N(1 << 50), Note: make([]byte, src.IntN(300)*src.IntN(2))}
	}
	return es
}

// TestTree checks that the hash of an entry is the SHA-256 of its leaf up to and including the
// entry, and that the root equals the root of tlog's own tree of leaves. It checks all sizes,
// also after decoding, and with any set of hashes computed earlier.
func TestTree(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	src := rand.New(rand.NewPCG(seed, 1))
	es := someEntries(src, 300)
	hashes, heads := naive(t, es)
	tr := newTree()
	for i := range es {
		d := decoder{b: appendTree(nil, &tr)}
		again := d.tree(int64(i))
		if d.err != nil || len(d.b) > 0 || again.head() != tr.head() {
			t.Fatalf("seed %d: tree of %d entries does not read back", seed, i)
		}
		if src.IntN(3) == 0 {
			tr = again
		}
		tr.addEntry(&es[i])
		if src.IntN(2) == 0 && tr.last() != hashes[i] {
			t.Fatalf("seed %d: entry %d has hash %v, want %v", seed, i+1, tr.last(), hashes[i])
		}
		if src.IntN(2) == 0 && tr.head() != heads[i] {
			t.Fatalf("seed %d: head %v, want %v", seed, tr.head(), heads[i])
		}
	}
	if tr := newTree(); tr.head() != (Head{0, sha256.Sum256(nil)}) {
		t.Errorf("head without entries %v", tr.head())
	}
}

// TestGrouping checks that the head and the hashes depend only on the entries, not on groups.
func TestGrouping(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		es := someEntries(rand.New(rand.NewPCG(seed, 1)), rapid.IntRange(1, 150).Draw(t, "entries"))
		j, err := Create("bank", Options{FS: vfs.NewMem(), BalancesEvery: rapid.IntRange(1, 9).Draw(t, "every")})
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		flush := rapid.IntRange(1, 70).Draw(t, "group")
		for i := range es {
			if err := j.Append(&es[i]); err != nil {
				t.Fatal(err)
			}
			if i%flush == 0 {
				if err := j.Flush(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := j.Flush(); err != nil {
			t.Fatal(err)
		}
		plain := newTree()
		var hashes []tlog.Hash
		for i := range es {
			plain.addEntry(&es[i])
			hashes = append(hashes, plain.last())
		}
		r := NewReader(j.backend, Head{}, nil)
		for e, hash := range r.Entries() {
			if hash != hashes[e.Seq-1] {
				t.Fatalf("entry %d has hash %v, want %v", e.Seq, hash, hashes[e.Seq-1])
			}
		}
		if r.Err() != nil || j.Head() != plain.head() {
			t.Fatalf("head %v, %v; want %v", j.Head(), r.Err(), plain.head())
		}
	})
}

// TestLeafRestored checks that a ledger reopened at any size, after Close or after the process
// died, continues with the same hashes as a ledger that was never closed.
func TestLeafRestored(t *testing.T) {
	t.Parallel()
	var es []bank.Entry
	for n := range 102 {
		e := asked(n, false)
		e.Seq = int64(n + 1)
		es = append(es, e)
	}
	hashes, heads := naive(t, es)
	for size := range 101 {
		for _, closed := range []bool{true, false} {
			fs := vfs.NewMem()
			opts := Options{FS: fs, BalancesEvery: 1 + 3*(size%2)}
			j := create(t, "bank", opts)
			l := bank.New(j)
			book := func(n int) {
				t.Helper()
				e := asked(n, false)
				if err := l.Book(&e); err != nil {
					t.Fatal(err)
				}
				if a, ok, err := j.answer(e.ID); !ok || err != nil || a.Hash != hashes[n] {
					t.Fatalf("size %d: entry %d has hash %v, want %v", size, n+1, a.Hash, hashes[n])
				}
			}
			for n := range size {
				book(n)
				if n%7 == 0 || n == size-1 {
					if err := j.Flush(); err != nil {
						t.Fatal(err)
					}
				}
			}
			if closed {
				closeJournal(t, j)
			} else {
				j.release()
			}
			var err error
			if j, l, err = Open("bank", opts); err != nil {
				t.Fatalf("size %d, closed %v: %v", size, closed, err)
			}
			book(size)
			if j.Head() != heads[size] {
				t.Errorf("size %d, closed %v: goes on to %v, want %v", size, closed, j.Head(), heads[size])
			}
			closeJournal(t, j)
		}
	}
}

// TestOldFormat checks that a ledger of the previous format is refused with ErrFormat, not as
// damaged.
func TestOldFormat(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	if err := fs.MkdirAll("bank", 0o777); err != nil {
		t.Fatal(err)
	}
	writeHead(t, fs, "bourse ledger 1\nhead 0:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\nend x\n")
	if _, _, err := Open("bank", Options{FS: fs}); !isFormat(err) {
		t.Errorf("opened: %v", err)
	}
	if _, err := OpenReader("bank", Options{FS: fs}); !isFormat(err) {
		t.Errorf("read: %v", err)
	}
	if _, err := audit.Audit("bank", audit.Options{FS: fs}); !errors.Is(err, audit.ErrFormat) {
		t.Errorf("audited: %v", err)
	}
	g := groupReader{tree: newTree()}
	for range g.entries(seqKey(1), []byte{1, 1}) {
	}
	if !errors.Is(g.err, ErrFormat) {
		t.Errorf("a group: %v", g.err)
	}
}

func isFormat(err error) bool { return errors.Is(err, ErrFormat) && !errors.Is(err, ErrDamaged) }

func writeHead(t testing.TB, fs vfs.FS, text string) {
	t.Helper()
	writeIn(t, fs, headFile, []byte(text))
}

// writeIn replaces a file of the bank.
func writeIn(t testing.TB, fs vfs.FS, name string, b []byte) {
	t.Helper()
	f, err := fs.Create("bank/"+name, vfs.WriteCategoryUnspecified)
	if err == nil {
		_, err = f.Write(b)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}
