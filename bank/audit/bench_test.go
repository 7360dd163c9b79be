package audit_test

import (
	"crypto/sha256"
	"testing"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/store"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// BenchmarkAudit reports the nanoseconds of an audit by transfer, and how many
// times that is what hashing takes alone: two hashes an entry.
func BenchmarkAudit(b *testing.B) {
	const n = 300_000
	fs := vfs.NewMem()
	j, err := store.Create("ledger", store.Options{FS: fs})
	check(b, err)
	l := bank.New(j)
	var users []bank.Account
	for i := range 100 {
		a, err := l.Account("user:" + string(rune('a'+i%26)) + string(rune('a'+i/26)))
		check(b, err)
		users = append(users, a)
		check(b, l.Mint(0, a, bank.Micros(1e12)))
	}
	for i := range n {
		check(b, l.Post(float64(i), nil, bank.Posting{From: users[i%100], To: users[(i*7+1)%100], Amount: bank.Micros(5)}))
	}
	check(b, j.Close())
	b.ResetTimer()
	for b.Loop() {
		start := b.Elapsed()
		if r := run(b, fs, audit.Options{}); !r.Clean() {
			b.Fatal(r.Findings)
		}
		audited := b.Elapsed() - start
		var entry, node [65]byte
		for range n {
			h := sha256.Sum256(entry[:])
			copy(entry[1:], h[:])
			copy(node[1:], h[:])
			sha256.Sum256(node[:])
		}
		hashed := b.Elapsed() - start - audited
		b.ReportMetric(float64(audited.Nanoseconds())/n, "ns/transfer")
		b.ReportMetric(float64(audited)/float64(hashed), "x-hashing")
	}
}
