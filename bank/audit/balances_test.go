package audit_test

import (
	"errors"
	"strings"
	"testing"

	"bourse/bank/audit"
	"bourse/bank/store"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestNone checks that a directory without a ledger is an error, not a clean audit.
func TestNone(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	check(t, fs.MkdirAll("empty", 0o777))
	check(t, fs.MkdirAll("other", 0o777))
	f, err := fs.Create("other/build.log", vfs.WriteCategoryUnspecified)
	check(t, err)
	check(t, f.Close())
	for _, dir := range []string{"empty", "other", "nowhere"} {
		if r, err := audit.Audit(dir, audit.Options{FS: fs}); !errors.Is(err, audit.ErrNone) {
			t.Errorf("%s: %+v, %v", dir, r, err)
		}
	}
}

// TestBalances checks that a stored balance, set of contracts or sum that does not match the
// entries is found, even if no entry is bad.
func TestBalances(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	makeLedger(t, fs, store.Options{}, 1, 1, 40)
	for _, key := range []string{"Bprovider", "Bmint", "Buser:99", "S", "C\x00\x00\x00\x00\x00\x00\x00\x00", "Bescrow:1"} {
		harmed := clone(t, fs)
		db, err := pebble.Open("ledger", &pebble.Options{FS: harmed, FormatMajorVersion: pebble.FormatNewest, Logger: quiet{}})
		check(t, err)
		value := []byte{2, 0}
		if v, closer, err := db.Get([]byte(key)); err == nil {
			value = append([]byte(nil), v...)
			value[len(value)-2] ^= 2
			check(t, closer.Close())
		}
		check(t, db.Set([]byte(key), value, pebble.Sync))
		check(t, db.Close())
		r := run(t, harmed, audit.Options{})
		found := false
		for _, f := range r.Findings {
			found = found || strings.Contains(f.Found, "stored as")
		}
		if !found {
			t.Errorf("%q changed: %v", key, r.Findings)
		}
	}
}
