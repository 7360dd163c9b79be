package audit_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"bourse/bank/audit"
	"bourse/bank/store"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// a raw group, taken apart.
type raw struct {
	entries [][]byte
	checks  [][]byte
	tree    []byte
}

func parse(t testing.TB, b []byte) (r raw) {
	t.Helper()
	b = b[1:]
	count, n := binary.Uvarint(b)
	b = b[n:]
	for range count {
		size, n := binary.Uvarint(b)
		r.entries = append(r.entries, b[n:n+int(size)])
		b = b[n+int(size):]
		r.checks = append(r.checks, b[:4])
		b = b[4:]
	}
	r.tree = b
	return r
}

func (r raw) bytes() []byte {
	b := binary.AppendUvarint([]byte{1}, uint64(len(r.entries)))
	for i, e := range r.entries {
		b = binary.AppendUvarint(b, uint64(len(e)))
		b = append(append(b, e...), r.checks[i]...)
	}
	return append(b, r.tree...)
}

// TestEntries checks that an entry that is changed, removed, inserted or moved
// through Pebble itself, so that its checksums hold, is found and named.
func TestEntries(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	src := rand.New(rand.NewPCG(seed, 0))
	fs := vfs.NewMem()
	makeLedger(t, fs, store.Options{}, 1, 3, 40)
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
		r := parse(t, values[g])
		i, k := src.IntN(len(r.entries)), src.IntN(len(r.entries))
		for k == i {
			k = src.IntN(len(r.entries))
		}
		bad := i
		what := []string{"changed", "removed", "repeated", "moved", "check changed", "tree changed"}[n%6]
		switch what {
		case "changed":
			r.entries[i][src.IntN(len(r.entries[i]))] ^= 1 << src.IntN(8)
		case "removed":
			r.entries = append(r.entries[:i:i], r.entries[i+1:]...)
			r.checks = append(r.checks[:i:i], r.checks[i+1:]...)
			if i == len(r.entries) {
				bad = i - 1 // the tree is that of one more
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
		case "tree changed":
			r.tree[src.IntN(len(r.tree))] ^= 1 << src.IntN(8)
			bad = len(r.entries) - 1
		}
		check(t, db.Set(keys[g], r.bytes(), pebble.Sync))
		check(t, db.Close())
		want := int64(binary.BigEndian.Uint64(keys[g][1:])) + int64(bad)
		if got := run(t, harmed, audit.Options{}).Findings; len(got) == 0 || got[0].Seq != want {
			t.Errorf("entry %s (seed %d, case %d): %v, want entry %d named", what, seed, n, got, want)
		}
	}
}
