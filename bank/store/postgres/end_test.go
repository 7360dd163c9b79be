package postgres_test

import (
	"errors"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/store"
	"bourse/bank/store/postgres"
	"bourse/bank/store/postgres/pgtest"
)

// mintOne books one entry and makes it durable.
func mintOne(j *store.Journal, l *bank.Ledger) error {
	e := bank.Entry{Kind: bank.Issue, Contract: bank.NoContract, Moves: []bank.Move{{From: "mint", To: "user:ann", Amount: bank.Micros(1)}}}
	if err := l.Book(&e); err != nil {
		return err
	}
	return j.Flush()
}

// TestEnd checks that a ledger whose last group was deleted, changed or followed by a foreign
// group is not written, read or reported as complete. This holds for a process that opens it,
// even if balances were written after the group, and for the process that has it open.
func TestEnd(t *testing.T) {
	t.Parallel()
	for what, sql := range map[string]string{
		"deleted":         "delete from groups where first = (select max(first) from groups)",
		"all are deleted": "delete from groups",
		"another root":    `update groups set value = substring(value for octet_length(value) - 1) || '\x00' where first = (select max(first) from groups)`,
		"a strange one":   "insert into groups select max(first) + 1, (select value from groups limit 1) from groups",
		"an older head":   "update ledger set head = '" + store.NoEntries().String() + "'",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			for _, open := range []bool{false, true} {
				url := pgtest.URL(t)
				j, err := postgres.CreateWith(url, store.Options{})
				if err != nil {
					t.Fatal(err)
				}
				l := bank.New(j)
				for range 3 {
					if err := mintOne(j, l); err != nil {
						t.Fatal(err)
					}
				}
				if open {
					pgtest.Exec(t, url, sql)
					err := mintOne(j, l)
					if what == "another root" { // only a reader of the group detects this
						if err != nil {
							t.Error(err)
						}
					} else if !errors.Is(err, store.ErrDamaged) || strings.Contains(err.Error(), "\n") {
						t.Errorf("%s while it is open: %v, want %v", what, err, store.ErrDamaged)
					}
					j.Close()
					continue
				}
				if err := j.Close(); err != nil {
					t.Fatal(err)
				}
				pgtest.Exec(t, url, sql)
				if _, _, err := postgres.Open(url, store.Options{}); !errors.Is(err, store.ErrDamaged) {
					t.Errorf("%s: opening: %v, want %v", what, err, store.ErrDamaged)
				}
				if what == "an older head" { // a reader may have read newer data than this head
					continue
				}
				r, err := postgres.OpenReader(url)
				if err != nil {
					t.Fatal(err)
				}
				for range r.Entries() {
				}
				if !errors.Is(r.Err(), store.ErrDamaged) && what != "a strange one" && what != "another root" {
					t.Errorf("%s: reading: %v, want %v", what, r.Err(), store.ErrDamaged)
				}
				if r.Err() == nil {
					t.Errorf("%s: it is read as whole", what)
				}
				r.Close()
			}
		})
	}
}

// TestReserved checks that a schema of the server itself is not accepted as a ledger.
func TestReserved(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"information_schema", "pg_catalog", "pg_toast", "pg_x", "crdb_internal"} {
		if _, err := postgres.Name("postgres://bank@/db?ledger=" + name); !errors.Is(err, postgres.ErrURL) {
			t.Errorf("%s: %v, want %v", name, err, postgres.ErrURL)
		}
	}
	for _, name := range []string{"bourse", "information", "page", "books.part"} {
		if _, err := postgres.Name("postgres://bank@/db?ledger=" + name); err != nil {
			t.Error(err)
		}
	}
}
