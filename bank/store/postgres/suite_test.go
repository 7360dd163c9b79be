package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/store"
)

// A Place is an empty place for one ledger.
type Place interface {
	Create(store.Options) (*store.Journal, error)
	Open(store.Options) (*store.Journal, *bank.Ledger, error)
	Reader() (*store.Reader, error)
	Audit(audit.Options) (*audit.Report, error)

	// Lose kills the ledger's writer. Data that is not durable is lost.
	Lose() error
}

// suite tests the guarantees of every store of a bank, each with its own ledger. It is
// independent of the storage of values. The tests of a store cover its specific faults, such as
// a torn write, a changed file or a missing row.
func suite(t *testing.T, place func(testing.TB) Place) {
	for name, test := range map[string]func(*testing.T, Place){
		"Receipts":  receipts,
		"Life":      life,
		"Errors":    failures,
		"Once":      once,
		"Drains":    drains,
		"Readers":   readers,
		"GivenUp":   givenUp,
		"Closing":   closing,
		"Second":    second,
		"Lost":      lost,
		"Shortfall": shortfall,
		"Owned":     owned,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, place(t))
		})
	}
}

func createAt(t *testing.T, p Place, opts store.Options) *store.Journal {
	t.Helper()
	j, err := p.Create(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func sequencer(t *testing.T, p Place) *store.Sequencer {
	t.Helper()
	j := createAt(t, p, store.Options{BalancesEvery: 10})
	s := store.NewSequencer(j, bank.New(j))
	t.Cleanup(func() { s.Close() })
	return s
}

func reopenAt(t *testing.T, p Place) *store.Sequencer {
	t.Helper()
	j, l, err := p.Open(store.Options{BalancesEvery: 10})
	if err != nil {
		t.Fatal(err)
	}
	s := store.NewSequencer(j, l)
	t.Cleanup(func() { s.Close() })
	return s
}

func order(id, from, to string, micros int64) bank.Entry {
	return store.Order{ID: id, From: from, To: to, Amount: bank.Micros(micros)}.Entry(0)
}

func do(t *testing.T, s *store.Sequencer, e bank.Entry) store.Receipt {
	t.Helper()
	r, err := s.Do(context.Background(), e)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// kept returns the receipts of the entries that a reader sees, by id. It fails if an id occurs
// twice.
func kept(t *testing.T, p Place) map[string]store.Receipt {
	t.Helper()
	r, err := p.Reader()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	all := make(map[string]store.Receipt)
	for e, hash := range r.Entries() {
		if _, twice := all[e.ID]; twice && e.ID != "" {
			t.Errorf("%s is booked twice", e.ID)
		}
		all[e.ID] = store.Receipt{Seq: e.Seq, Hash: hash}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return all
}

// clean audits the ledger.
func clean(t *testing.T, p Place, head string) {
	t.Helper()
	r, err := p.Audit(audit.Options{Head: head})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Clean() {
		t.Errorf("audit: %v", r.Findings)
	}
}

// failures checks that the error of a ledger that cannot be opened is one line with the
// reason.
func failures(t *testing.T, p Place) {
	_, _, opened := p.Open(store.Options{})
	_, read := p.Reader()
	j := createAt(t, p, store.Options{})
	_, created := p.Create(store.Options{})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	_, again := p.Create(store.Options{})
	for _, c := range []struct {
		what      string
		got, want error
	}{
		{"open nothing", opened, store.ErrNone},
		{"read nothing", read, store.ErrNone},
		{"create over a ledger in use", created, store.ErrExists},
		{"create over a ledger", again, store.ErrExists},
	} {
		if !errors.Is(c.got, c.want) || strings.Contains(fmt.Sprint(c.got), "\n") {
			t.Errorf("%s: %v, want one line with %v", c.what, c.got, c.want)
		}
	}
	if err := j.Append(&bank.Entry{Seq: 1}); err == nil {
		t.Error("append after close")
	}
	if err := j.Close(); err != nil {
		t.Errorf("close again: %v", err)
	}
}
