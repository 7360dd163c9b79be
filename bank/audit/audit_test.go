package audit_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/store"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// trade adds at least n entries to the ledger: contracts with every outcome, and transfers,
// some of them many in a row.
func trade(t testing.TB, l *bank.Ledger, src *rand.Rand, n int64) {
	t.Helper()
	account := func(format string, args ...any) bank.Account {
		a, err := l.Account(fmt.Sprintf(format, args...))
		check(t, err)
		return a
	}
	provider := account("provider")
	check(t, l.Mint(l.Now(), provider, bank.Micros(1e9)))
	contract := int64(1000 * l.Entries())
	for end := l.Entries() + n; l.Entries() < end; contract++ {
		now := l.Now() + src.ExpFloat64()
		for n := src.IntN(50) * (src.IntN(8) / 7); n > 0 && l.Entries() < end; n-- {
			check(t, l.Post(now, nil, bank.Posting{From: provider, To: account("user:%d", src.IntN(7)), Amount: bank.Micros(1 + src.Int64N(300))}))
		}
		user, host := account("user:%d", src.IntN(7)), account("host:h%02d", src.IntN(9))
		budget := bank.Micros(1 + src.Int64N(1e6))
		if l.Balance(user).Cmp(budget) < 0 {
			check(t, l.Mint(now, user, bank.Micros(5e6)))
		}
		if src.IntN(5) == 0 {
			check(t, l.Reject(now, contract, []byte(`{"price":0.25}`)))
			continue
		}
		check(t, l.Hold(now, contract, user, budget, []byte(`{"rate":7}`)))
		if l.Entries()%3 == 0 {
			check(t, l.Record(now, bank.Moved, contract, []byte(`{"off":true}`)))
			check(t, l.Record(now, bank.Cleared, bank.NoContract, []byte(`{"market":0,"price":7}`)))
		}
		if more := bank.Micros(budget.Micros() + src.Int64N(1e3)); l.Entries()%3 == 1 && l.Balance(user).Cmp(bank.Micros(1e3)) > 0 {
			check(t, l.Adjust(now, contract, more, []byte(`{"bids":[7]}`)))
			check(t, l.Adjust(now, contract, budget, nil)) // move the difference back
		}
		if src.IntN(9) == 0 {
			continue // some contracts still run at the end
		}
		charge := bank.Micros(src.Int64N(budget.Micros() + 1))
		_, err := l.Settle(now, contract, []bank.Payment{{To: host, Amount: charge}}, nil)
		check(t, err)
		if src.IntN(4) == 0 {
			_, err := l.Penalty(now, contract, []bank.Debit{{From: provider, Most: bank.Micros(1 + src.Int64N(1e3))}}, user, nil)
			check(t, err)
		}
	}
}

// makeLedger makes a ledger in memory with at least every entries per group, and returns its
// head as text.
func makeLedger(t testing.TB, fs vfs.FS, opts store.Options, seed uint64, groups int, every int64) (string, *bank.Ledger) {
	t.Helper()
	opts.FS = fs
	j, err := store.Create("ledger", opts)
	check(t, err)
	l := bank.New(j)
	src := rand.New(rand.NewPCG(seed, 2))
	for range groups {
		trade(t, l, src, every)
		check(t, j.Flush())
	}
	check(t, j.Close())
	return j.Head().String(), l
}

func run(t testing.TB, fs vfs.FS, opts audit.Options) *audit.Report {
	t.Helper()
	opts.FS = fs
	r, err := audit.Audit("ledger", opts)
	check(t, err)
	return r
}

// TestClean checks that a correct ledger passes, with the balances, head and sums that its
// writer reports, whether the ledger is closed or open, and whether the entries are in logs or
// in tables.
func TestClean(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]store.Options{"live": {BalancesEvery: 3}, "run": {Reproducible: true}} {
		for _, size := range []int64{1, 10, 2000} {
			fs := vfs.NewMem()
			head, l := makeLedger(t, fs, opts, 1, 7, size)
			var done, total int64
			r := run(t, fs, audit.Options{Head: head, Whole: true, Progress: func(d, n int64) { done, total = d, n }})
			if done != l.Entries() || total != done {
				t.Errorf("came to %d of %d entries, want all %d", done, total, l.Entries())
			}
			if !r.Clean() || r.Head != head || r.Entries != l.Entries() || !r.Closed || len(r.Beyond) != 0 {
				t.Fatalf("%s of %d entries: %+v, %s, closed %v, beyond %v", name, l.Entries(), r.Findings, r.Head, r.Closed, r.Beyond)
			}
			balances := make(map[string]string)
			for _, b := range r.Balances {
				balances[b.Account] = b.Amount.String()
			}
			var held bank.Amount
			for name, b := range l.Balances() {
				if got, ok := balances[name]; got != b.String() && (ok || b.Sign() != 0) {
					t.Errorf("%s = %s, want %v", name, got, b)
				}
				if bank.IsEscrow(name) {
					held, _ = held.Add(b)
				}
			}
			if r.Held.String() != held.String() || r.Issued.String() != l.Issued().String() {
				t.Errorf("held %v, issued %v; want %v, %v", r.Held, r.Issued, held, l.Issued())
			}
		}
	}
}

// flip changes one bit of a file.
func flip(t testing.TB, fs vfs.FS, name string, src *rand.Rand) {
	t.Helper()
	b := read(t, fs, name)
	at := src.IntN(len(b))
	if end := min(len(b), 1000); src.IntN(2) == 0 { // an offset in a part of a table on which no entry depends
		at = len(b) - 1 - src.IntN(end)
	}
	b[at] ^= 1 << src.IntN(8)
	write(t, fs, name, b)
}

func read(t testing.TB, fs vfs.FS, name string) []byte {
	t.Helper()
	info, err := fs.Stat(name)
	check(t, err)
	b := make([]byte, info.Size())
	f, err := fs.Open(name)
	check(t, err)
	if len(b) > 0 {
		_, err = f.ReadAt(b, 0)
		check(t, err)
	}
	check(t, f.Close())
	return b
}

func write(t testing.TB, fs vfs.FS, name string, b []byte) {
	t.Helper()
	f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	check(t, err)
	_, err = f.Write(b)
	check(t, err)
	check(t, f.Close())
}

func clone(t testing.TB, fs vfs.FS) *vfs.MemFS {
	t.Helper()
	to := vfs.NewMem()
	ok, err := vfs.Clone(fs, to, "ledger", "ledger")
	if err != nil || !ok {
		t.Fatal("clone", ok, err)
	}
	return to
}

// TestFiles checks that any flipped bit, truncation or removal of a file is found, even in
// Pebble's own files.
func TestFiles(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	src := rand.New(rand.NewPCG(seed, 0))
	for kind, opts := range map[string]store.Options{"live": {BalancesEvery: 3}, "run": {Reproducible: true}} {
		fs := vfs.NewMem()
		makeLedger(t, fs, opts, 1, 10, 50)
		if kind == "live" { // opening the ledger again turns its logs into tables
			opts.FS = fs
			j, _, err := store.Open("ledger", opts)
			check(t, err)
			check(t, j.Close())
		}
		names, err := fs.List("ledger")
		check(t, err)
		if kind == "live" && !strings.Contains(fmt.Sprint(names), ".sst") {
			t.Fatalf("no tables among %v", names)
		}
		for n := range 500 {
			name := "ledger/" + names[n%len(names)]
			harmed := clone(t, fs)
			switch b := read(t, harmed, name); {
			case len(b) == 0:
				check(t, harmed.Remove(name))
				if strings.HasSuffix(name, "LOCK") {
					continue // the next process that opens the ledger creates a new LOCK
				}
			case n%3 == 0:
				write(t, harmed, name, b[:src.IntN(len(b))])
			default:
				flip(t, harmed, name, src)
			}
			r := run(t, harmed, audit.Options{})
			if r.Clean() {
				t.Errorf("%s ledger: harm to %s is not found (seed %d, case %d)", kind, name, seed, n)
			}
		}
	}
}

type quiet struct{}

func (quiet) Infof(string, ...any)      {}
func (quiet) Errorf(string, ...any)     {}
func (quiet) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }

// TestNamed checks that a bit flipped in a write-ahead log without Pebble's knowledge is found
// in the right entry.
func TestNamed(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	src := rand.New(rand.NewPCG(seed, 0))
	fs := vfs.NewMem()
	makeLedger(t, fs, store.Options{Reproducible: true}, 1, 5, 60)
	names, err := fs.List("ledger")
	check(t, err)
	named := 0
	for _, name := range names {
		if !strings.HasSuffix(name, ".log") {
			continue
		}
		log := read(t, fs, "ledger/"+name)
		for n := range 60 {
			at, seq := 0, int64(0)
			for at < 1 { // find an entry that lies completely in one chunk
				seq = 1 + src.Int64N(300)
				at = bytes.Index(log, entryStart(seq))
			}
			harmed := clone(t, fs)
			b := bytes.Clone(log)
			b[at+len(entryStart(seq))+src.IntN(4)] ^= 1 << src.IntN(8) // in the time of the entry
			write(t, harmed, "ledger/"+name, b)
			if got := run(t, harmed, audit.Options{}).Findings; len(got) == 0 || got[0].Seq != seq || got[0].File != name {
				t.Errorf("bit flipped in entry %d (seed %d, case %d): %v", seq, seed, n, got)
			}
			named++
		}
	}
	if named == 0 {
		t.Error("no log was harmed")
	}
}

// entryStart returns the first bytes of the admission with number seq: its kind and its number.
func entryStart(seq int64) []byte {
	return append(binary.AppendUvarint([]byte{2}, uint64(seq)), 0x40)
}

// TestHead checks that a head stored elsewhere detects a rewritten, truncated or rolled-back
// ledger that is consistent in itself. Without such a head, the report must state that the
// audit cannot detect this.
func TestHead(t *testing.T) {
	t.Parallel()
	honest, forged := vfs.NewMem(), vfs.NewMem()
	head, _ := makeLedger(t, honest, store.Options{}, 1, 3, 40)
	makeLedger(t, forged, store.Options{}, 2, 3, 40)
	if r := run(t, forged, audit.Options{}); !r.Clean() || len(r.Beyond) != 3 {
		t.Errorf("a forged ledger alone: %v, beyond %v", r.Findings, r.Beyond)
	}
	if r := run(t, forged, audit.Options{Head: head}); r.Clean() {
		t.Error("a forged ledger passes with the head of the honest one")
	}
	older := vfs.NewMem()
	makeLedger(t, older, store.Options{}, 1, 2, 40)
	r := run(t, older, audit.Options{Head: head})
	if r.Clean() || r.Findings[0].Seq != r.Entries+1 {
		t.Errorf("an older copy: %v, want entry %d missed", r.Findings, r.Entries+1)
	}
	oldHead := r.Head
	if r := run(t, honest, audit.Options{Head: oldHead}); !r.Clean() {
		t.Errorf("a ledger that went on: %v", r.Findings)
	}
	if r := run(t, honest, audit.Options{Head: oldHead, Whole: true}); r.Clean() {
		t.Error("a ledger that went on passes as whole")
	}
	for _, bad := range []string{"1", "x:y", "01:" + head, head + "=", "-1:" + strings.Repeat("A", 43) + "="} {
		if _, err := audit.Audit("ledger", audit.Options{FS: honest, Head: bad}); err == nil {
			t.Errorf("head %q is taken", bad)
		}
	}
}

// TestInUse checks that a ledger can be audited while its writer has it open.
func TestInUse(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	j, err := store.Create("ledger", store.Options{FS: fs, BalancesEvery: 2})
	check(t, err)
	l := bank.New(j)
	src := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		trade(t, l, src, 40)
		check(t, j.Flush())
		r := run(t, fs, audit.Options{})
		if !r.Clean() || r.Entries != l.Entries() || r.Closed {
			t.Fatalf("%d entries, closed %v, %v; want %d, open", r.Entries, r.Closed, r.Findings, l.Entries())
		}
	}
	check(t, j.Close())
}

// TestRequests checks that a bank's requests pass and that a receipt can be used as a head. A
// missing, changed or invented request must be found, because such a request could be booked
// twice.
func TestRequests(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	j, err := store.Create("ledger", store.Options{FS: fs})
	check(t, err)
	s := store.NewSequencer(j, bank.New(j))
	var receipts []store.Receipt
	for i := range 30 {
		r, err := s.Do(t.Context(), bank.Entry{Kind: bank.Issue, Contract: bank.NoContract, ID: fmt.Sprint("req-", i),
			Moves: []bank.Move{{From: "mint", To: "user:a", Amount: bank.Micros(5)}}})
		check(t, err)
		receipts = append(receipts, r)
		if i == 15 { // the audited ledger is in use and has stored no request yet
			if r := run(t, fs, audit.Options{Head: r.String()}); !r.Clean() {
				t.Errorf("in use: %v", r.Findings)
			}
		}
	}
	check(t, s.Close())
	for _, r := range receipts {
		if r := run(t, fs, audit.Options{Head: r.String()}); !r.Clean() {
			t.Errorf("receipt %v: %v", r.Head, r.Findings)
		}
	}
	other := receipts[3]
	other.Hash[5] ^= 1
	if r := run(t, fs, audit.Options{Head: other.String()}); r.Clean() {
		t.Error("a receipt that was never given passes")
	}
	if r := run(t, fs, audit.Options{Chance: rand.NewChaCha8([32]byte{7})}); !r.Clean() {
		t.Errorf("with a secret: %v", r.Findings)
	}
	for what, harm := range map[string]func(db *pebble.DB) error{
		"answered as another": func(db *pebble.DB) error {
			for key, other := range map[string]int{"Ireq-7": 8, "Ireq-8": 7} {
				value := binary.AppendUvarint(nil, uint64(receipts[other].Seq))
				value = append(append(value, receipts[other].Hash[:]...), make([]byte, 16)...)
				check(t, db.Set([]byte(key), value, pebble.Sync))
			}
			return nil
		},
		"forgotten": func(db *pebble.DB) error { return db.Delete([]byte("Ireq-7"), pebble.Sync) },
		"invented":  func(db *pebble.DB) error { return db.Set([]byte("Ireq-99"), []byte{1}, pebble.Sync) },
		"changed":   func(db *pebble.DB) error { return db.Set([]byte("Ireq-7"), []byte{1}, pebble.Sync) },
	} {
		harmed := clone(t, fs)
		db, err := pebble.Open("ledger", &pebble.Options{FS: harmed, FormatMajorVersion: pebble.FormatNewest, Logger: quiet{}})
		check(t, err)
		check(t, harm(db))
		check(t, db.Close())
		findings := func(chance io.Reader) (said []string) {
			for _, f := range run(t, harmed, audit.Options{Chance: chance}).Findings {
				said = append(said, f.String())
			}
			slices.Sort(said)
			return said
		}
		want := findings(nil)
		if !strings.Contains(fmt.Sprint(want), "request") {
			t.Errorf("a request %s is not found", what)
		}
		for seed := range uint64(9) { // for any secret
			if got := findings(rand.NewChaCha8([32]byte{byte(seed)})); !slices.Equal(got, want) {
				t.Errorf("a request %s, with a secret: %v, want %v", what, got, want)
			}
		}
	}
}
