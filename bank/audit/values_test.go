package audit_test

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"bourse/bank/audit"
	"bourse/bank/store"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// mapValues are a ledger's values in memory.
type mapValues map[string]string

func (m mapValues) Get(key []byte) ([]byte, error) {
	if v, ok := m[string(key)]; ok {
		return []byte(v), nil
	}
	return nil, nil
}

func (m mapValues) Scan(from, to []byte, _ *error) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if k >= string(from) && k < string(to) && !yield([]byte(k), []byte(m[k])) {
				return
			}
		}
	}
}

// TestValues checks that values are compared with the head stored with them and with the given
// head, at any position.
func TestValues(t *testing.T) {
	t.Parallel()
	values, head := ledgerValues(t)
	_, root, _ := strings.Cut(head, ":")
	for given, clean := range map[string]bool{"": true, head: true, "7:" + root: false, "100000:" + root: false} {
		r, err := audit.From(values, head, audit.Options{Head: given})
		if err != nil || r.Clean() != clean {
			t.Errorf("head %q given: %v, %v, want clean %v", given, r, err, clean)
		}
	}
}

// ledgerValues returns a ledger's values, and its head.
func ledgerValues(t *testing.T) (values mapValues, head string) {
	t.Helper()
	fs := vfs.NewMem()
	head, _ = makeLedger(t, fs, store.Options{}, 1, 3, 40)
	db, err := pebble.Open("ledger", &pebble.Options{FS: fs, FormatMajorVersion: pebble.FormatNewest, Logger: quiet{}})
	check(t, err)
	values = make(mapValues)
	it, err := db.NewIter(nil)
	check(t, err)
	for ok := it.First(); ok; ok = it.Next() {
		values[string(it.Key())] = string(it.Value())
	}
	check(t, it.Close())
	check(t, db.Close())
	return values, head
}
