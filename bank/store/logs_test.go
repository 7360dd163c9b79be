package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bourse/bank"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// readAs returns the entries that a reader yields with their hashes, up to most, and why it
// ended early.
func readAs(t *testing.T, opts Options, most int) (read []string, early error) {
	t.Helper()
	r, err := OpenReader("bank", opts)
	if err != nil {
		return nil, err
	}
	for e, hash := range r.Entries() {
		if read = append(read, fmt.Sprintf("%d %v %s %v %x", e.Seq, e.Time, e.Note, e.Moves, hash)); len(read) == most {
			break
		}
	}
	early = r.Err()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return read, early
}

// createRun makes the ledger of a run, or has Pebble write it, as versions before did.
func createRun(t *testing.T, opts Options, byPebble bool) *Journal {
	t.Helper()
	opts.Reproducible = true
	if !byPebble {
		return create(t, "bank", opts)
	}
	d := newDirectory("bank", opts)
	if err := d.create(); err != nil {
		t.Fatal(err)
	}
	return NewJournal(d, "bank", opts)
}

// TestReadLogs promises that of a closed ledger of logs alone, one as it is written now or
// several as by Pebble, the same is read as they come as by the database, and that nothing
// else is where a log is damaged.
func TestReadLogs(t *testing.T) {
	t.Parallel()
	heads := make(map[int]Head)
	for _, logs := range []int{1, 3} {
		t.Run(fmt.Sprint(logs), func(t *testing.T) { heads[logs] = testReadLogs(t, logs) })
	}
	if heads[1] != heads[3] {
		t.Errorf("heads %v: one log comes to another", heads)
	}
}

func testReadLogs(t *testing.T, logs int) Head {
	mem := vfs.NewMem()
	j := createRun(t, Options{FS: mem}, logs > 1)
	newTrader(bank.New(j), 5).trade(t, 10_000)
	head := j.Head()
	closeJournal(t, j)
	const all = 1 << 20
	want, err := readAs(t, Options{FS: mem}, all)
	if err != nil || len(want) < 10_000 {
		t.Fatalf("%d entries: %v", len(want), err)
	}
	names, err := mem.List("bank")
	if err != nil {
		t.Fatal(err)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasSuffix(name, ".log") })
	if len(names) != logs {
		t.Fatalf("logs %v, want %d", names, logs)
	}
	opts := Options{FS: mem, Reproducible: true}
	if s, err := readSeal(mem, "bank"); err != nil {
		t.Fatal(err)
	} else if l, err := logsOf(mem, "bank", s); err != nil || len(l) != len(names) {
		t.Errorf("%d logs: %v, want %d", len(l), err, len(names))
	}
	for _, most := range []int{1, 100, all} {
		if got, err := readAs(t, opts, most); err != nil || !slices.Equal(got, want[:min(most, len(want))]) {
			t.Errorf("of %d entries as they come %d are read, or others: %v", most, len(got), err)
		}
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	src := rand.New(rand.NewPCG(seed, 0))
	for range 4 * len(names) { // Pebble takes long over one that is harmed
		name := names[src.IntN(len(names))]
		was, err := readFile(mem, "bank/"+name, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		b := bytes.Clone(was)
		at := place(b, src)
		b[at] ^= 1 << src.IntN(8)
		writeIn(t, mem, name, b)
		got, err := readAs(t, opts, all)
		if len(got) > len(want) || !slices.Equal(got, want[:len(got)]) || err == nil && len(got) != len(want) {
			t.Errorf("byte %d of %s: %d entries are read, or others: %v", at, name, len(got), err)
		}
		writeIn(t, mem, name, was)
	}
	return head
}

// TestReadTables promises that a ledger which is not logs alone, or open, is read by the
// database.
func TestReadTables(t *testing.T) {
	t.Parallel()
	mem := vfs.NewMem()
	j := create(t, "bank", Options{FS: mem, memTable: 32 << 10})
	newTrader(bank.New(j), 5).trade(t, 3000)
	for _, when := range []string{"open", "closed"} {
		s, err := readSeal(mem, "bank")
		if err != nil {
			t.Fatal(err)
		}
		if l, err := logsOf(mem, "bank", s); l != nil || err != nil {
			t.Errorf("%s: %d logs, %v, want none", when, len(l), err)
		}
		if when == "open" {
			closeJournal(t, j)
		}
	}
	if got, err := readAs(t, Options{FS: mem, Reproducible: true}, 1<<20); err != nil || len(got) < 3000 {
		t.Errorf("%d entries: %v", len(got), err)
	}
}
