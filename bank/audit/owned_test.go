//go:build unix

package audit_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/export"
	"bourse/bank/owners/ownerstest"
	"bourse/bank/store"
)

// BenchmarkOwned reports the processor time of an audit per signed transfer, for a ledger and
// its log, in microseconds and as a multiple of one signature check. It also reports the
// speedup of all processors over one. Each figure is the minimum of all runs, because other
// processes may use the machine.
func BenchmarkOwned(b *testing.B) {
	const n = 20_000
	dir := filepath.Join(b.TempDir(), "ledger")
	j, err := store.Create(dir, store.Options{})
	check(b, err)
	l := bank.New(j)
	entries := ownerstest.Begin()
	for i := range n {
		entries = append(entries, ownerstest.Transfer(fmt.Sprint(i), fmt.Sprintf("user:%d", i%2), fmt.Sprintf("user:%d", 1-i%2), 1))
	}
	for i := range entries {
		check(b, l.Book(&entries[i]))
		if i%50 == 0 {
			check(b, j.Flush())
		}
	}
	check(b, j.Close())
	in, err := store.OpenReader(dir, store.Options{})
	check(b, err)
	var log bytes.Buffer
	check(b, export.Write(&log, "json", in.Entries(), export.Options{}))
	check(b, in.Close())
	public, private, err := ed25519.GenerateKey(nil)
	check(b, err)
	text := make([]byte, 200)
	sig := ed25519.Sign(private, text)
	for name, read := range map[string]func(audit.Options) (*audit.Report, error){
		"ledger": func(opts audit.Options) (*audit.Report, error) { return audit.Audit(dir, opts) },
		"log":    func(opts audit.Options) (*audit.Report, error) { return audit.Log(bytes.NewReader(log.Bytes()), opts) },
	} {
		b.Run(name, func(b *testing.B) {
			audited := func(processors int) (work, took time.Duration) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
				start, since := cpuTime(b), time.Now()
				r, err := read(audit.Options{Chance: rand.Reader, Spread: spread})
				check(b, err)
				if !r.Clean() || r.Orders < n {
					b.Fatal(r)
				}
				return cpuTime(b) - start, time.Since(since)
			}
			verify, work, one, many := time.Hour, time.Hour, time.Hour, time.Hour
			for b.Loop() {
				start := cpuTime(b)
				for range 1000 {
					ed25519.Verify(public, text, sig)
				}
				verify = min(verify, (cpuTime(b)-start)*n/1000)
				_, took := audited(1)
				one = min(one, took)
				w, took := audited(runtime.NumCPU())
				work, many = min(work, w), min(many, took)
			}
			b.ReportMetric(work.Seconds()*1e6/n, "us-cpu/transfer")
			b.ReportMetric(work.Seconds()/verify.Seconds(), "x-of-signature")
			b.ReportMetric(one.Seconds()/many.Seconds(), "x-sooner")
		})
	}
}

// spread calls do on all processors.
func spread(n int, do func(int)) {
	var all sync.WaitGroup
	each := runtime.GOMAXPROCS(0)
	for p := range each {
		all.Go(func() {
			for i := p; i < n; i += each {
				do(i)
			}
		})
	}
	all.Wait()
}
