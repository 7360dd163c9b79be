//go:build unix

package audit_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"syscall"
	"testing"
	"time"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/export"
	"bourse/bank/store"
)

// transfers creates a ledger on disk with n transfers between a thousand accounts.
func transfers(t testing.TB, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ledger")
	j, err := store.Create(dir, store.Options{})
	check(t, err)
	l := bank.New(j)
	var users []bank.Account
	for i := range 1000 {
		a, err := l.Account(fmt.Sprintf("user:%d", i))
		check(t, err)
		users = append(users, a)
		check(t, l.Mint(0, a, bank.Micros(1e12)))
	}
	for i := range n {
		check(t, l.Post(float64(i), nil, bank.Posting{From: users[i%1000], To: users[(i*7+1)%1000], Amount: bank.Micros(5)}))
	}
	check(t, j.Close())
	return dir
}

// cpuTime returns the processor time used by this process.
func cpuTime(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	check(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// audited audits a ledger, which must be clean, and returns the processor time used and the
// peak heap size.
func audited(t testing.TB, dir string) (time.Duration, uint64) {
	t.Helper()
	runtime.GC()
	live := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	var most uint64
	start := cpuTime(t)
	r, err := audit.Audit(dir, audit.Options{Chance: rand.Reader, Progress: func(done, _ int64) {
		metrics.Read(live)
		most = max(most, live[0].Value.Uint64())
	}})
	took := cpuTime(t) - start
	check(t, err)
	if !r.Clean() {
		t.Fatal(r.Findings)
	}
	return took, most
}

// BenchmarkAudit reports the processor time of an audit per transfer, with all balances, for a
// ledger and for a ledger ten times as long, and the ratio of the two times. It also reports
// the time of hashing the same bytes, the ratio of the audit to this time, and the peak heap
// size including garbage. Each figure is the minimum of all runs, because other processes may
// use the machine.
func BenchmarkAudit(b *testing.B) {
	const short, long = 100_000, 1_000_000
	brief, whole := transfers(b, short), transfers(b, long)
	leaf := make([]byte, 33+32*39)
	work := [...]time.Duration{1 << 62, 1 << 62, 1 << 62}
	heap := [...]uint64{1 << 62, 1 << 62}
	for b.Loop() {
		for i, dir := range []string{brief, whole} {
			took, most := audited(b, dir)
			work[i], heap[i] = min(work[i], took), min(heap[i], most)
		}
		start := cpuTime(b)
		for range long / 32 {
			h := sha256.Sum256(leaf)
			copy(leaf, h[:])
		}
		work[2] = min(work[2], cpuTime(b)-start)
	}
	b.ReportMetric(float64(work[0])/short, "cpu-ns/transfer-of-1e5")
	b.ReportMetric(float64(work[1])/long, "cpu-ns/transfer-of-1e6")
	b.ReportMetric(float64(work[1])/float64(work[0])*short/long, "x-linear")
	b.ReportMetric(float64(work[2])/long, "hashing-ns/transfer")
	b.ReportMetric(float64(work[1])/float64(work[2]), "x-hashing")
	b.ReportMetric(float64(heap[0])/1e6, "heap-MB-of-1e5")
	b.ReportMetric(float64(heap[1])/1e6, "heap-MB-of-1e6")
}

// BenchmarkRequests reports the processor time of an audit per transfer with a request id, and
// the ratio to an audit that looks up each request.
func BenchmarkRequests(b *testing.B) {
	const n = 100_000
	dir := filepath.Join(b.TempDir(), "ledger")
	j, err := store.Create(dir, store.Options{})
	check(b, err)
	l := bank.New(j)
	book := func(e bank.Entry, from, to string, micros int64) {
		e.Contract, e.Moves = bank.NoContract, []bank.Move{{From: from, To: to, Amount: bank.Micros(micros)}}
		check(b, l.Book(&e))
	}
	user := func(i int) string { return fmt.Sprintf("user:%d", i%1000) }
	for i := range 1000 {
		book(bank.Entry{Kind: bank.Issue}, "mint", user(i), 1e12)
	}
	for i := range n {
		book(bank.Entry{Kind: bank.Transfer, ID: fmt.Sprintf("%08x", uint32(i)*0x9e3779b1)}, user(i), user(i*7+1), 5)
	}
	check(b, j.Close())
	for b.Loop() {
		work, _ := audited(b, dir)
		start := cpuTime(b)
		r, err := audit.Audit(dir, audit.Options{})
		each := cpuTime(b) - start
		check(b, err)
		if !r.Clean() {
			b.Fatal(r.Findings)
		}
		b.ReportMetric(float64(work)/n, "cpu-ns/transfer")
		b.ReportMetric(float64(each)/float64(work), "x-looking-up")
	}
}

// BenchmarkPrograms exports 20,000 transfers and compares an audit with ledger, which adds up
// the balances, and hledger, which checks them. It reports the times and their ratios.
func BenchmarkPrograms(b *testing.B) {
	dir := transfers(b, 20_000)
	r, err := store.OpenReader(dir, store.Options{})
	check(b, err)
	files := make(map[string]string)
	for _, program := range []string{"ledger", "hledger"} {
		var text bytes.Buffer
		check(b, export.Write(&text, program, r.Entries(), export.Options{}))
		files[program] = filepath.Join(b.TempDir(), program)
		check(b, os.WriteFile(files[program], text.Bytes(), 0o666))
	}
	check(b, r.Close())
	for b.Loop() {
		start := time.Now()
		r, err := audit.Audit(dir, audit.Options{})
		ours := time.Since(start)
		check(b, err)
		if !r.Clean() {
			b.Fatal(r.Findings)
		}
		b.ReportMetric(float64(ours.Milliseconds()), "audit-ms")
		for program, args := range map[string][]string{"ledger": {"bal"}, "hledger": {"check"}} {
			start := time.Now()
			cmd := exec.Command(program, append([]string{"-f", files[program]}, args...)...)
			if cmd.Err != nil {
				b.Logf("%s is not installed", program)
				continue
			}
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%s: %v: %.500s", program, err, out)
			}
			took := time.Since(start)
			b.ReportMetric(took.Seconds(), program+"-s")
			b.ReportMetric(float64(took)/float64(ours), "x-"+program)
		}
	}
}
