package verify_test

import (
	"testing"

	"bourse/bank/audit"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func run(t testing.TB, fs vfs.FS, opts audit.Options) *audit.Report {
	t.Helper()
	opts.FS = fs
	r, err := audit.Audit("ledger", opts)
	check(t, err)
	return r
}
