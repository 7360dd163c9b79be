package audit_test

import (
	"testing"

	"bourse/bank/audit"
	"bourse/bank/store"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestSince promises that the sums since an entry, and those up to it, come to the
// sums of all; and that an entry which is not there is missed.
func TestSince(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	makeLedger(t, fs, store.Options{}, 5, 4, 30)
	all := run(t, fs, audit.Options{})
	for _, since := range []int64{1, all.Entries / 2, all.Entries} {
		r := run(t, fs, audit.Options{Since: since})
		if !r.Clean() || r.Entries != all.Entries || r.Head != all.Head || r.Held != all.Held || r.Since != since {
			t.Errorf("since %d: %+v", since, r)
		}
		if r.Issued > all.Issued || r.Charged > all.Charged || r.Admitted > all.Admitted {
			t.Errorf("since %d: sums exceed those of all", since)
		}
		if since == all.Entries && (r.Issued != 0 || r.Charged != 0 || r.Refunded != 0 || r.Penalties != 0 || r.Admitted != 0 || r.Settled != 0 || r.Rejected != 0) {
			t.Errorf("since the last entry: %+v", r)
		}
	}
	before, after := run(t, fs, audit.Options{Since: 10}), run(t, fs, audit.Options{Since: 11})
	if n := before.Admitted + before.Settled + before.Rejected - after.Admitted - after.Settled - after.Rejected; n > 1 {
		t.Errorf("entry 11 is counted %d times", n)
	}
	if r := run(t, fs, audit.Options{Since: all.Entries + 1}); r.Clean() {
		t.Error("an entry that is not there is not missed")
	}
}
