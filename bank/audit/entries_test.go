package audit_test

import (
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"bourse/bank/audit"
	"bourse/bank/store"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// raw is an encoded group, divided into its parts.
type raw struct {
	first   int64 // number of the first entry
	entries [][]byte
	checks  [][]byte
	leaves  [][]byte // beginnings of the leaves
	root    []byte
}

func parse(t testing.TB, key, b []byte) raw {
	t.Helper()
	r := raw{first: int64(binary.BigEndian.Uint64(key[1:]))}
	b = b[1:]
	count, n := binary.Uvarint(b)
	b = b[n:]
	for i := range int64(count) {
		if r.begins(i) {
			r.leaves = append(r.leaves, b[:33])
			b = b[33:]
		}
		size, n := binary.Uvarint(b)
		r.entries = append(r.entries, b[n:n+int(size)])
		b = b[n+int(size):]
		r.checks = append(r.checks, b[:4])
		b = b[4:]
	}
	r.root = b
	return r
}

// begins reports whether the entry at i is the first of a leaf.
func (r raw) begins(i int64) bool { return (r.first+i-1)%32 == 0 }

// bytes returns the encoded group. Each leaf begins with the next element of r.leaves or, if
// none is left, with zeros.
func (r raw) bytes() []byte {
	b := binary.AppendUvarint([]byte{2}, uint64(len(r.entries)))
	leaves := r.leaves
	for i, e := range r.entries {
		if r.begins(int64(i)) {
			if len(leaves) == 0 {
				leaves = [][]byte{make([]byte, 33)}
			}
			b = append(b, leaves[0]...)
			leaves = leaves[1:]
		}
		b = binary.AppendUvarint(b, uint64(len(e)))
		b = append(append(b, e...), r.checks[i]...)
	}
	return append(b, r.root...)
}

// TestEntries checks that an entry that is changed, removed, inserted or moved through Pebble,
// so that Pebble's checksums match, is found and named. A forged entry with a matching
// checksum and a changed hash are reported with their leaf.
func TestEntries(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	src := rand.New(rand.NewPCG(seed, 0))
	fs := vfs.NewMem()
	makeLedger(t, fs, store.Options{}, 1, 3, 120)
	for n := range 500 {
		harmed := clone(t, fs)
		db, err := pebble.Open("ledger", &pebble.Options{FS: harmed, FormatMajorVersion: pebble.FormatNewest, Logger: quiet{}})
		check(t, err)
		it, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte("G"), UpperBound: []byte("H")})
		check(t, err)
		var keys, values [][]byte
		for ok := it.First(); ok; ok = it.Next() {
			keys, values = append(keys, append([]byte(nil), it.Key()...)), append(values, append([]byte(nil), it.Value()...))
		}
		check(t, it.Close())
		g := src.IntN(len(keys))
		r := parse(t, keys[g], values[g])
		i, k := src.IntN(len(r.entries)), src.IntN(len(r.entries))
		for k == i {
			k = src.IntN(len(r.entries))
		}
		bad := i
		exact := true // whether the finding must name the entry, not only its leaf
		what := []string{"changed", "removed", "repeated", "moved", "check changed", "root changed", "leaf changed", "forged"}[n%8]
		switch what {
		case "changed":
			r.entries[i][src.IntN(len(r.entries[i]))] ^= 1 << src.IntN(8)
		case "removed":
			r.entries = append(r.entries[:i:i], r.entries[i+1:]...)
			r.checks = append(r.checks[:i:i], r.checks[i+1:]...)
			if i == len(r.entries) {
				bad, exact = i-1, false // the root is computed with one more entry
			}
		case "repeated":
			r.entries = append(r.entries[:i+1:i+1], r.entries[i:]...)
			r.checks = append(r.checks[:i+1:i+1], r.checks[i:]...)
			bad = i + 1
		case "moved":
			r.entries[i], r.entries[k] = r.entries[k], r.entries[i]
			r.checks[i], r.checks[k] = r.checks[k], r.checks[i]
			bad = min(i, k)
		case "check changed":
			r.checks[i][src.IntN(4)] ^= 1 << src.IntN(8)
		case "root changed":
			r.root[src.IntN(len(r.root))] ^= 1 << src.IntN(8)
			bad, exact = len(r.entries)-1, false
		case "leaf changed":
			if len(r.leaves) == 0 {
				continue
			}
			leaf := src.IntN(len(r.leaves))
			r.leaves[leaf][1+src.IntN(32)] ^= 1 << src.IntN(8)
			bad, exact = max(0, int(32*((r.first+30)/32+int64(leaf))-r.first)), false // the last entry of the previous leaf
		case "forged": // the checksum matches the changed entry
			forge(&r, i, src)
			exact = false
		}
		check(t, db.Set(keys[g], r.bytes(), pebble.Sync))
		check(t, db.Close())
		want := r.first + int64(bad)
		got := run(t, harmed, audit.Options{}).Findings
		if len(got) == 0 || exact && (got[0].Seq != want || got[0].To != 0) || !exact && !names(got[0], want) {
			t.Errorf("entry %s (seed %d, case %d): %v, want entry %d named", what, seed, n, got, want)
		}
	}
}

// forge changes the entry at i and its stored checksum.
func forge(r *raw, i int, src *rand.Rand) {
	e := r.entries[i]
	e[src.IntN(len(e))] ^= 1 << src.IntN(8)
	binary.BigEndian.PutUint32(r.checks[i], crc32.Checksum(e, crc32.MakeTable(crc32.Castagnoli)))
}

// names reports whether a finding names an entry or its leaf.
func names(f audit.Finding, seq int64) bool {
	return f.Seq == seq || f.Seq <= seq && seq <= f.To && f.To < f.Seq+32
}
