package store

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/audit"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A trader books n entries of every kind. The same seed gives the same entries.
type trader struct {
	*bank.Ledger
	src  *rand.Rand
	open []int64
	next int64
	now  float64
}

func newTrader(l *bank.Ledger, seed uint64) *trader {
	return &trader{Ledger: l, src: rand.New(rand.NewPCG(seed, 1))}
}

func (tr *trader) account(kind string) bank.Account {
	a, err := tr.Account(fmt.Sprintf("%s:%d", kind, tr.src.IntN(5)))
	if err != nil {
		panic(err)
	}
	return a
}

// trade adds n entries.
func (tr *trader) trade(t testing.TB, n int64) {
	t.Helper()
	for end := tr.Entries() + n; tr.Entries() < end; {
		tr.now += tr.src.ExpFloat64()
		user, host, amount := tr.account("user"), tr.account("host"), bank.Micros(1+tr.src.Int64N(1e6))
		note := []byte(fmt.Sprintf("price=%v", tr.src.Float64()))
		var err error
		switch k := tr.src.IntN(10); {
		case k < 4 && tr.Balance(user).Cmp(amount) < 0:
			err = tr.Mint(tr.now, user, bank.Micros(10e6))
		case k < 4:
			err = tr.Hold(tr.now, tr.next, user, amount, note)
			tr.open = append(tr.open, tr.next)
			tr.next++
		case k < 7 && len(tr.open) > 0:
			c := tr.open[0]
			tr.open = tr.open[1:]
			held, _ := tr.Escrow(c)
			_, err = tr.Settle(tr.now, c, []bank.Payment{{To: host, Amount: bank.Micros(tr.src.Int64N(held.Micros() + 1))}}, note)
		case k == 7 && tr.next > 0 && tr.Balance(host).Cmp(amount) >= 0:
			_, err = tr.Penalty(tr.now, tr.src.Int64N(tr.next), []bank.Debit{{From: host, Most: amount}}, user, note)
		case k == 8 && tr.Balance(user).Cmp(amount) >= 0:
			err = tr.Post(tr.now, note, bank.Posting{From: user, To: host, Amount: amount})
		case k == 9 && tr.Entries()%4 == 0:
			err = tr.Record(tr.now, bank.Cleared, bank.NoContract, note)
		case k == 9 && tr.Entries()%4 == 1 && len(tr.open) > 0:
			err = tr.Record(tr.now, bank.Moved, tr.open[0], note)
		case k == 9 && tr.Entries()%4 == 2 && len(tr.open) > 0:
			if err = tr.Adjust(tr.now, tr.open[0], amount, note); errors.Is(err, bank.ErrInsufficientFunds) {
				err = nil
			}
		default:
			err = tr.Reject(tr.now, 1e6+tr.Entries(), note)
		}
		if err != nil && !errors.Is(err, bank.ErrUsedContract) {
			t.Fatal(err)
		}
	}
}

func create(t testing.TB, dir string, opts Options) *Journal {
	t.Helper()
	j, err := Create(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func closeJournal(t testing.TB, j *Journal) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// balances returns the nonzero balances of a ledger.
func balances(l *bank.Ledger) map[string]bank.Amount {
	m := make(map[string]bank.Amount)
	for name, b := range l.Balances() {
		if b.Sign() != 0 {
			m[name] = b
		}
	}
	return m
}

// TestReopen checks that a reopened ledger equals the closed one, that both continue
// identically, and that only the groups since the last write of balances are replayed.
func TestReopen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		groups   int
		replayed int64
		close    bool
	}{
		{3, 0, true}, {3, 3 * 40, false}, {10, 0, true}, {10, 2 * 40, false}, {8, 0, false},
	} {
		fs := vfs.NewMem()
		opts := Options{FS: fs, BalancesEvery: 4}
		j := create(t, "bank", opts)
		a := newTrader(bank.New(j), 7)
		for range c.groups {
			a.trade(t, 40)
			if err := j.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if c.close {
			closeJournal(t, j)
		} else {
			j.release() // Releasing the journal is equivalent to the death of the process.
		}
		j2, l, err := Open("bank", opts)
		if err != nil {
			t.Fatal(err)
		}
		if j2.replayed != c.replayed {
			t.Errorf("%d groups, closed %v: replayed %d entries, want %d", c.groups, c.close, j2.replayed, c.replayed)
		}
		if j2.Head() != j.Head() || l.Entries() != a.Entries() || l.Now() != a.Now() {
			t.Errorf("reopened at %v, %d entries, %v s; want %v, %d, %v", j2.Head(), l.Entries(), l.Now(), j.Head(), a.Entries(), a.Now())
		}
		got, want := balances(l), balances(a.Ledger)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("reopened with %v, want %v", got, want)
		}
		for _, n := range a.open {
			if _, ok := l.Escrow(n); !ok {
				t.Errorf("contract %d lost its escrow", n)
			}
			if err := l.Hold(l.Now(), n, 1, bank.Micros(1), nil); !errors.Is(err, bank.ErrUsedContract) {
				t.Errorf("contract %d is admitted again: %v", n, err)
			}
		}
		a.Ledger = l
		a.trade(t, 100)
		closeJournal(t, j2)
	}
}

// TestReproducible checks that the same entries give the same files, regardless of the clock,
// the timing of flushes, and the number of cores.
func TestReproducible(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first map[string][]byte
	for run := range 4 {
		runtime.GOMAXPROCS(1 + run)
		dir := filepath.Join(t.TempDir(), "ledger")
		j := create(t, dir, Options{Reproducible: true})
		newTrader(bank.New(j), 3).trade(t, 30_000)
		closeJournal(t, j)
		files := make(map[string][]byte)
		names, err := filepath.Glob(dir + "/*")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files[filepath.Base(name)] = b
			if filepath.Ext(name) == ".sst" {
				t.Errorf("run %d: %s is a table, in which Pebble tells the second", run, filepath.Base(name))
			}
		}
		if run == 0 {
			first = files
		}
		for name, b := range files {
			if !bytes.Equal(b, first[name]) {
				t.Errorf("run %d: %s differs", run, name)
			}
		}
		if len(files) != len(first) {
			t.Errorf("run %d: %d files, want %d", run, len(files), len(first))
		}
	}
}

// TestOpenErrors checks the errors of Create and Open for unsuitable directories.
func TestOpenErrors(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	opts := Options{FS: fs}
	j := create(t, "bank", opts)
	newTrader(bank.New(j), 1).trade(t, 10)
	if _, err := Create("bank", opts); !errors.Is(err, ErrExists) {
		t.Errorf("create over a ledger: %v", err)
	}
	if _, _, err := Open("bank", opts); !errors.Is(err, ErrLocked) {
		t.Errorf("open twice: %v", err)
	}
	if _, _, err := Open("elsewhere", opts); !errors.Is(err, ErrNone) {
		t.Errorf("open nothing: %v", err)
	}
	closeJournal(t, j)
	closeJournal(t, j) // close the journal a second time
	if err := j.Append(&bank.Entry{Seq: 11}); err == nil {
		t.Error("append after close")
	}
}

// TestDamage checks that Open refuses a ledger if any file was changed or removed after it was
// closed, or if its log was truncated.
func TestDamage(t *testing.T) {
	t.Parallel()
	src := vfs.NewMem()
	j := create(t, "bank", Options{FS: src})
	newTrader(bank.New(j), 1).trade(t, 200)
	closeJournal(t, j)
	names, _ := src.List("bank")
	slices.Sort(names)
	for _, name := range names {
		for _, harm := range []string{"flip", "cut", "remove"} {
			fs := vfs.NewMem()
			if ok, err := vfs.Clone(src, fs, "bank", "bank"); !ok || err != nil {
				t.Fatal(err)
			}
			path := "bank/" + name
			b, err := readFile(fs, path, 1<<30)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case harm == "remove":
				fs.Remove(path)
			case len(b) == 0:
				continue
			case harm == "cut":
				b = b[:len(b)-1]
				fallthrough
			default:
				b[len(b)/2] ^= 1
				f, _ := fs.Create(path, vfs.WriteCategoryUnspecified)
				f.Write(b)
				f.Close()
			}
			_, _, err = Open("bank", Options{FS: fs})
			want := ErrDamaged
			if name == headFile && harm == "remove" {
				want = ErrNone
			}
			if name == "LOCK" && harm == "remove" {
				want = nil
			}
			if !errors.Is(err, want) {
				t.Errorf("%s %s: %v, want %v", harm, name, err, want)
			}
		}
	}
}

// TestLostEnd checks that a ledger that was never closed is not opened and fails its audit if
// its log lost entries that HEAD or ACKS includes. Without these files, Pebble's recovery would
// drop the entries silently.
func TestLostEnd(t *testing.T) {
	t.Parallel()
	t.Run("HEAD", func(t *testing.T) { testLostEnd(t, 1, 20) })
	t.Run("ACKS", func(t *testing.T) { testLostEnd(t, 64, 2000) })
}

func testLostEnd(t *testing.T, balancesEvery int, entries int64) {
	t.Parallel()
	fs := vfs.NewMem()
	opts := Options{FS: fs, BalancesEvery: balancesEvery}
	j := create(t, "bank", opts)
	tr := newTrader(bank.New(j), 1)
	for range 3 {
		tr.trade(t, entries)
		if err := j.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	j.release()
	names, err := fs.List("bank")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	slices.Reverse(names) // try the last log first
	for _, name := range names {
		if filepath.Ext(name) != ".log" {
			continue
		}
		b, err := readFile(fs, "bank/"+name, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) < 100 {
			continue
		}
		f, err := fs.Create("bank/"+name, vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		f.Write(b[:len(b)-100])
		f.Close()
		break
	}
	if r, err := audit.Audit("bank", audit.Options{FS: fs}); err != nil || r.Clean() || r.Findings[0].Seq <= 2*entries {
		t.Errorf("audit of a log without its end: %+v, %v", r, err)
	}
	gone := fmt.Sprintf("entries %d to %d are missing", 2*entries+1, 3*entries)
	if _, _, err := Open("bank", opts); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), gone) {
		t.Errorf("a log without its end: %v", err)
	}
}

// BenchmarkRun creates the ledger of a paper replication, writes 120 entries and closes it.
func BenchmarkRun(b *testing.B) {
	dir := b.TempDir()
	for i := 0; b.Loop(); i++ {
		j := create(b, fmt.Sprintf("%s/%d", dir, i), Options{Reproducible: true})
		newTrader(bank.New(j), 3).trade(b, 120)
		closeJournal(b, j)
	}
}

// BenchmarkAppend reports the cost of journaling an entry.
func BenchmarkAppend(b *testing.B) {
	j := create(b, b.TempDir(), Options{})
	l := bank.New(j)
	x, _ := l.Account("user:1")
	y, _ := l.Account("user:2")
	if err := l.Mint(0, x, bank.Micros(1e18)); err != nil {
		b.Fatal(err)
	}
	p := []bank.Posting{{From: x, To: y, Amount: bank.Micros(5)}}
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Post(0, nil, p...); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	closeJournal(b, j)
}
