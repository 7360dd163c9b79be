package audit_test

import (
	"fmt"
	"testing"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/store"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestSince checks that the sums up to an entry and the sums after it add up to the total sums,
// and that a missing entry is reported.
func TestSince(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	makeLedger(t, fs, store.Options{}, 5, 4, 120)
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

// TestMidway checks that sums since an entry, and the head and the receipt of that entry, are
// also correct for plain transfers at any position of a leaf.
func TestMidway(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	j, err := store.Create("ledger", store.Options{FS: fs})
	check(t, err)
	l := bank.New(j)
	var users []bank.Account
	for i := range 9 {
		a, err := l.Account(fmt.Sprintf("user:%d", i))
		check(t, err)
		check(t, l.Mint(0, a, bank.Micros(1000)))
		users = append(users, a)
	}
	var heads, receipts []string // one per entry
	var issued []audit.Money     // amount issued after each entry
	for i := range 150 {
		if i%20 == 19 {
			check(t, l.Mint(float64(i), users[0], bank.Micros(1)))
		}
		check(t, l.Post(float64(i), nil, bank.Posting{From: users[i%9], To: users[(i+1)%9], Amount: bank.Micros(1)}))
	}
	check(t, j.Close())
	all := run(t, fs, audit.Options{}).Issued
	r, err := store.OpenReader("ledger", store.Options{FS: fs})
	check(t, err)
	for e, hash := range r.Entries() {
		if e.Kind == bank.Issue {
			all -= audit.Money(e.Moves[0].Amount.Micros())
		}
		issued = append(issued, all)
		receipts = append(receipts, fmt.Sprintf("%d:%s", e.Seq, hash))
		heads = append(heads, fmt.Sprintf("%d:%s", e.Seq, store.NewLeaf(hash).Hash()))
	}
	check(t, r.Err())
	check(t, r.Close())
	for i, receipt := range receipts {
		seq := int64(i + 1)
		if r := run(t, fs, audit.Options{Head: receipt, Since: seq}); !r.Clean() || r.Issued != issued[i] {
			t.Errorf("since %d: %v, issued %v, want %v", seq, r.Findings, r.Issued, issued[i])
		}
		if r := run(t, fs, audit.Options{Head: heads[i]}); r.Clean() {
			t.Errorf("a head of entry %d that never was passes", seq)
		}
	}
}
