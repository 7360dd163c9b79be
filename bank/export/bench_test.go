package export_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/export"
	"bourse/bank/store"
)

// BenchmarkOthers reports the time of an audit per transfer, including balances, and the ratio
// to the time that other programs need to check or sum up an export.
func BenchmarkOthers(b *testing.B) {
	const n = 20_000
	dir := filepath.Join(b.TempDir(), "ledger")
	j, err := store.Create(dir, store.Options{})
	check(b, err)
	l := bank.New(j)
	var users []bank.Account
	for i := range 100 {
		a, err := l.Account(fmt.Sprintf("user:%d", i))
		check(b, err)
		users = append(users, a)
		check(b, l.Mint(0, a, bank.Micros(1e12)))
	}
	for i := range n {
		check(b, l.Post(float64(i), nil, bank.Posting{From: users[i%100], To: users[(i*7+1)%100], Amount: bank.Micros(5)}))
	}
	check(b, j.Close())
	file := filepath.Join(b.TempDir(), "export.journal")
	r, err := store.OpenReader(dir, store.Options{})
	check(b, err)
	var text bytes.Buffer
	check(b, export.Write(&text, "hledger", r.Entries(), export.Options{}))
	check(b, r.Close())
	check(b, os.WriteFile(file, text.Bytes(), 0o666))
	for b.Loop() {
		start := time.Now()
		if r, err := audit.Audit(dir, audit.Options{}); err != nil || !r.Clean() {
			b.Fatal(r, err)
		}
		ours := time.Since(start)
		b.ReportMetric(float64(ours.Nanoseconds())/n, "ns/transfer")
		for name, args := range map[string][]string{"hledger": {"-f", file, "check"}, "ledger": {"-f", file, "bal"}} {
			if _, err := exec.LookPath(name); err != nil {
				b.Logf("%s is not installed", name)
				continue
			}
			start := time.Now()
			if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
				b.Fatalf("%s: %v: %s", name, err, out)
			}
			b.ReportMetric(float64(time.Since(start))/float64(ours), name+"/audit")
		}
	}
}
