package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"bourse/bank"
	"bourse/bank/store"
	"bourse/bank/store/postgres"
	"bourse/bank/store/postgres/pgtest"
)

// refuse makes the server request a retry of the first transactions that change a table, at the
// change or at the commit.
func refuse(t *testing.T, url, table, code string, times int, late bool) {
	t.Helper()
	for _, sql := range []string{
		"create sequence asked", // the counter grows even if its transaction is rolled back
		fmt.Sprintf("create function refuse() returns trigger language plpgsql as $$ begin if nextval('asked') <= %d then raise exception 'do it again' using errcode = '%s'; end if; return new; end $$", times, code),
	} {
		pgtest.Exec(t, url, sql)
	}
	if late {
		pgtest.Exec(t, url, "create constraint trigger refuse after insert or update on "+table+" deferrable initially deferred for each row execute function refuse()")
	} else {
		pgtest.Exec(t, url, "create trigger refuse before insert or update on "+table+" for each row execute function refuse()")
	}
}

// TestAskedAgain checks that a transaction is retried if the server rolls it back and asks for
// a retry, at any statement, and that its entries are booked once. If the server always asks
// for a retry, the bank reports a plain error at the time limit.
func TestAskedAgain(t *testing.T) {
	t.Parallel()
	const ever = 1 << 30
	for _, c := range []struct {
		name, table, code string
		times             int
		late              bool
	}{
		{"group", "groups", "40001", 3, false},
		{"group, deadlock", "groups", "40P01", 3, false},
		{"group, committing", "groups", "40001", 3, true},
		{"balances", "standing", "40001", 3, false},
		{"balances, deadlock", "balances", "40P01", 3, false},
		{"balances, committing", "standing", "40001", 3, true},
		{"ledger", "ledger", "40001", 3, false},
		{"group, for ever", "groups", "40001", ever, false},
		{"group, deadlock for ever", "groups", "40P01", ever, false},
		{"balances, committing, for ever", "standing", "40001", ever, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url := pgtest.URL(t)
			if err := create(t, url).Close(); err != nil {
				t.Fatal(err)
			}
			answer := 10 * time.Second
			if c.times == ever {
				answer = 3 * time.Second
			}
			s := reopen(t, url, answer)
			refuse(t, url, c.table, c.code, c.times, c.late)
			answered := make(map[string]store.Receipt)
			bodies := make(map[string]bank.Entry)
			start := time.Now()
			for n := range 7 { // two of these also write balances
				e := mint(fmt.Sprintf("r%d", n), int64(1+n))
				bodies[e.ID] = e
				r, err := s.Do(context.Background(), e)
				if err == nil {
					answered[e.ID] = r
				} else if c.times < ever || !errors.Is(err, store.ErrUnknown) && !errors.Is(err, store.ErrClosed) {
					t.Errorf("%s: %v", e.ID, err)
				}
			}
			err := s.Close()
			if c.times < ever {
				if err != nil || len(answered) != len(bodies) {
					t.Errorf("%d of %d answered, closed: %v", len(answered), len(bodies), err)
				}
			} else {
				if plainly(t, err); !strings.Contains(fmt.Sprint(err), c.code) || !strings.Contains(fmt.Sprint(err), "repeatedly aborted") {
					t.Errorf("a server that asks for ever: %v", err)
				}
				if took := time.Since(start); took > 30*time.Second {
					t.Errorf("waited for %v", took)
				}
				pgtest.Exec(t, url, "drop function refuse cascade")
			}
			check(t, url, answered, bodies)
		})
	}
}

// TestLostAnswer checks the effects of a lost reply to a commit. The client must get
// ErrUnknown. Once the ledger is open again, repeating the request with the same id books the
// entry exactly once, or returns the original receipt.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		text   string // text in the last message of the transaction
		number int    // number of the request; the third one writes balances
		stands bool
	}{
		{"group, not sent", "user:a", 2, false},
		{"group, not answered", "user:a", 2, true},
		{"commit, not sent", "commit", 3, false},
		{"commit, not answered", "commit", 3, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url := pgtest.URL(t)
			if err := create(t, url).Close(); err != nil {
				t.Fatal(err)
			}
			proxy := pgtest.NewProxy(t, url)
			s := reopen(t, proxy.URL, 10*time.Second)
			answered := make(map[string]store.Receipt)
			bodies := make(map[string]bank.Entry)
			for n := 1; n < c.number; n++ {
				e := mint(fmt.Sprintf("r%d", n), int64(n))
				r, err := s.Do(context.Background(), e)
				if err != nil {
					t.Fatal(err)
				}
				bodies[e.ID], answered[e.ID] = e, r
			}
			proxy.Lose(c.text, c.stands)
			e := mint(fmt.Sprintf("r%d", c.number), 9)
			bodies[e.ID] = e
			_, err := s.Do(context.Background(), e)
			if plainly(t, err); !errors.Is(err, store.ErrUnknown) {
				t.Errorf("an answer that was lost: %v", err)
			}
			plainly(t, s.Close())
			if c.stands != stands(t, url, e.ID) {
				t.Errorf("%s stands: %v, want %v", e.ID, !c.stands, c.stands)
			}
			check(t, url, answered, bodies)
		})
	}
}

// stands reports whether a request is booked.
func stands(t *testing.T, url, id string) bool {
	t.Helper()
	r, err := postgres.OpenReader(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for e := range r.Entries() {
		if e.ID == id {
			return true
		}
	}
	return false
}
