package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/store"
	"bourse/bank/store/postgres"
	"bourse/bank/store/postgres/pgtest"
)

func mint(id string, micros int64) bank.Entry {
	return store.Order{ID: id, From: "mint", To: "user:a", Amount: bank.Micros(micros)}.Entry(0)
}

func create(t *testing.T, url string) *store.Sequencer {
	t.Helper()
	j, err := postgres.CreateWith(url, store.Options{BalancesEvery: 3})
	if err != nil {
		t.Fatal(err)
	}
	return store.NewSequencer(j, bank.New(j))
}

// reopen does not wait long for the previous writer, which is dead. It retries while the server
// still waits for that writer within a transaction.
func reopen(t *testing.T, url string, answer time.Duration) *store.Sequencer {
	t.Helper()
	for start := time.Now(); ; {
		j, l, err := postgres.OpenWith(url, store.Options{BalancesEvery: 3}, answer, 200*time.Millisecond)
		if err == nil {
			return store.NewSequencer(j, l)
		}
		if plainly(t, err); time.Since(start) > 30*time.Second {
			t.Fatal(err)
		}
	}
}

// plainly fails the test if the text of an error has more than three lines or contains a stack
// trace.
func plainly(t *testing.T, err error) {
	t.Helper()
	if s := fmt.Sprint(err); err == nil || strings.Count(s, "\n") > 2 || strings.Contains(s, "goroutine") {
		t.Errorf("not a plain failure: %v", err)
	}
}

// check compares the ledger at url with the replies. The ledger must contain each answered
// request once, and a repeated request must get the same reply.
func check(t *testing.T, url string, answered map[string]store.Receipt, bodies map[string]bank.Entry) {
	t.Helper()
	r, err := postgres.OpenReader(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	kept := make(map[string]store.Receipt)
	for e, hash := range r.Entries() {
		if _, twice := kept[e.ID]; twice {
			t.Errorf("%s is booked twice", e.ID)
		}
		kept[e.ID] = store.Receipt{Seq: e.Seq, Hash: hash}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	for id, receipt := range answered {
		if kept[id] != receipt {
			t.Errorf("%s was answered %v, is %v", id, receipt, kept[id])
		}
	}
	s := reopen(t, url, 10*time.Second)
	var wg sync.WaitGroup
	for id, e := range bodies {
		wg.Go(func() {
			again, err := s.Do(context.Background(), e)
			if was, ok := kept[id]; err != nil || ok && again != was {
				t.Errorf("%s is booked as %v, and answered %v, %v", id, was, again, err)
			}
		})
	}
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	v, err := postgres.OpenView(url)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	report, err := audit.From(v, v.Head(), audit.Options{})
	if err != nil || !report.Clean() || report.Entries != int64(len(bodies)) {
		t.Errorf("audit: %+v, %v; want %d entries", report, err, len(bodies))
	}
}

// TestCut checks that answered requests are stored exactly once if the connection to the server
// is lost between any two bytes, including in a transaction and during its commit. The failure
// must be reported in a few lines, and no client may wait forever, whether the server
// disconnects or stops responding.
func TestCut(t *testing.T) {
	t.Parallel()
	cuts := 16
	if testing.Short() {
		cuts = 8
	}
	url := pgtest.URL(t)
	if err := create(t, url).Close(); err != nil {
		t.Fatal(err)
	}
	proxy := pgtest.NewProxy(t, url)
	seed := rand.Uint64()
	src := rand.New(rand.NewPCG(seed, 1))
	answered := make(map[string]store.Receipt)
	bodies := make(map[string]bank.Entry)
	failed := 0
	for cut := range cuts {
		silent := cut%10 == 4
		proxy.Fail(-1, false)
		s := reopen(t, proxy.URL, 2*time.Second)
		if span := int64(200) << (cut % 8); cut%8 < 7 { // the connection fails within 200 to 12,800 bytes; in one of eight cases, it does not fail
			proxy.Fail(src.Int64N(span), silent)
		}
		var mu sync.Mutex
		var wg sync.WaitGroup
		start := time.Now()
		for n := range 12 {
			e := mint(fmt.Sprintf("%d-%d", cut, n), 1+src.Int64N(1000))
			bodies[e.ID] = e
			wg.Go(func() {
				for range n % 4 {
					s.Look(context.Background(), func(*bank.Ledger) {}) // so that groups have all sizes
				}
				r, err := s.Do(context.Background(), e)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					answered[e.ID] = r
					return
				}
				failed++
				plainly(t, err)
			})
		}
		wg.Wait()
		if err := s.Close(); err != nil {
			plainly(t, err)
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("seed %d, cut %d: waited for %v", seed, cut, took)
		}
	}
	check(t, url, answered, bodies)
	if failed == 0 || len(answered) == 0 {
		t.Errorf("%d requests failed and %d were answered: no cut was within the work", failed, len(answered))
	}
	t.Logf("seed %d: %d cuts, %d requests answered, %d not", seed, cuts, len(answered), failed)
}

// TestCrash checks that answered requests survive repeated crashes of the server under load.
func TestCrash(t *testing.T) {
	t.Parallel()
	crashes := 2
	if testing.Short() {
		crashes = 1
	}
	server := pgtest.Start(t)
	url := server.URL + "&ledger=crashes"
	s := create(t, url)
	answered := make(map[string]store.Receipt)
	bodies := make(map[string]bank.Entry)
	for crash := range crashes {
		var mu sync.Mutex
		var wg sync.WaitGroup
		enough := make(chan struct{})
		for w := range 8 {
			wg.Go(func() {
				for n := 0; ; n++ {
					e := mint(fmt.Sprintf("%d-%d-%d", crash, w, n), int64(1+n))
					mu.Lock()
					bodies[e.ID] = e
					mu.Unlock()
					r, err := s.Do(context.Background(), e)
					if err != nil {
						plainly(t, err)
						return
					}
					mu.Lock()
					answered[e.ID] = r
					if len(answered) == 100*(crash+1) {
						close(enough)
					}
					mu.Unlock()
				}
			})
		}
		<-enough
		if err := server.Crash(); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		plainly(t, s.Close())
		_, _, err := postgres.Open(url, store.Options{})
		plainly(t, err)
		if err := server.Run(); err != nil {
			t.Fatal(err)
		}
		s = reopen(t, url, 10*time.Second)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	check(t, url, answered, bodies)
	t.Logf("%d crashes, %d requests answered", crashes, len(answered))
}

// TestTaken checks that a writer that was silent for so long that another writer took over the
// ledger writes no more data and reports the reason.
func TestTaken(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	s := create(t, url)
	if _, err := s.Do(context.Background(), mint("a", 1)); err != nil {
		t.Fatal(err)
	}
	pgtest.Exec(t, url, "update ledger set writer = 'another'")
	_, err := s.Do(context.Background(), mint("b", 1))
	if !errors.Is(err, store.ErrUnknown) && !errors.Is(err, store.ErrLocked) && !errors.Is(err, store.ErrClosed) {
		t.Errorf("a writer that was taken for dead: %v", err)
	}
	if err := s.Close(); !errors.Is(err, store.ErrLocked) {
		t.Errorf("closed: %v, want %v", err, store.ErrLocked)
	}
	check(t, url, nil, map[string]bank.Entry{"a": mint("a", 1)})
}

// TestDamage checks that changed, removed or added rows are found when the ledger is opened or
// audited, including the last entry.
func TestDamage(t *testing.T) {
	t.Parallel()
	for _, sql := range []string{
		"delete from groups where first = (select max(first) from groups)",
		"delete from groups where first = (select min(first) from groups)",
		"delete from groups",
		"update groups set value = set_byte(value, 40, get_byte(value, 40) # 1)",
		"update groups set value = set_byte(value, length(value) - 40, get_byte(value, length(value) - 40) # 1) where first = (select max(first) from groups)",
		"update groups set first = first + 100 where first > 3",
		"update balances set value = set_byte(value, 0, get_byte(value, 0) # 2)",
		"delete from balances where name = 'user:a'",
		"insert into balances values ('user:z', '\\x0200')",
		"update requests set value = set_byte(value, 20, get_byte(value, 20) # 1)",
		"delete from requests where id = 'r1'",
		"insert into requests values ('r99', '\\x01')",
		"delete from standing",
		"update standing set value = set_byte(value, 0, 1)",
		"update ledger set head = '9:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='",
		"update ledger set head = 'none'",
		"update ledger set format = 3",
		"update ledger set format = 1",
	} {
		t.Run(sql, func(t *testing.T) {
			t.Parallel()
			url := pgtest.URL(t)
			s := create(t, url)
			for n := range 8 {
				if _, err := s.Do(context.Background(), mint(fmt.Sprintf("r%d", n), 5)); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			pgtest.Exec(t, url, sql)
			j, _, opened := postgres.OpenWith(url, store.Options{}, 10*time.Second, time.Second)
			if opened == nil {
				j.Close()
			} else {
				plainly(t, opened)
			}
			found := ""
			if v, err := postgres.OpenView(url); err != nil {
				found = err.Error()
			} else {
				defer v.Close()
				report, err := audit.From(v, v.Head(), audit.Options{})
				if err != nil {
					t.Fatal(err)
				}
				found = fmt.Sprint(report.Findings)
			}
			if opened == nil && found == "[]" {
				t.Error("not found")
			}
			t.Logf("open: %v; audit: %s", opened, found)
		})
	}
}

// TestLostEnd checks that missing groups at the end of a ledger whose writer died are detected
// when it is opened. No stored balances include these groups.
func TestLostEnd(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	j, err := postgres.CreateWith(url, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := store.NewSequencer(j, bank.New(j))
	for n := range 3 {
		if _, err := s.Do(context.Background(), mint(fmt.Sprint(n), 5)); err != nil {
			t.Fatal(err)
		}
	}
	if err := (onServer{t, url}).Lose(); err != nil {
		t.Fatal(err)
	}
	s.Close()
	pgtest.Exec(t, url, "delete from groups where first = 3")
	if _, _, err := postgres.OpenWith(url, store.Options{}, 10*time.Second, time.Second); !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "entries 3 to 3 are missing") {
		t.Errorf("a ledger without its end: %v", err)
	}
}

// TestDurably checks that replies are sent only after data is durable, even if the server is
// configured to reply earlier.
func TestDurably(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	if got, err := postgres.Setting(url+"&synchronous_commit=off", "synchronous_commit"); got != "on" {
		t.Errorf("synchronous_commit is %q, %v; want on", got, err)
	}
	if got, err := postgres.Setting(url, "idle_in_transaction_session_timeout"); got != "10s" {
		t.Errorf("a transaction may be idle for %q, %v; want 10s", got, err)
	}
}

// TestURL checks which URLs are accepted as names of ledgers, and that no password is printed.
func TestURL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ url, name string }{
		{"postgres://bank@db/money", "postgres://bank@db/money?ledger=bourse"},
		{"postgresql://bank:geheim@db:5433/money?ledger=a/b-c_1.d&sslmode=disable", "postgres://bank@db:5433/money?ledger=a/b-c_1.d"},
		{"postgres://db/money?user=bank&password=geheim&host=/run/pg", "postgres://db/money?host=/run/pg&ledger=bourse&user=bank"},
		{"postgres://bank:ge%heim@db/money", ""},
		{"postgres://bank:geheim@db:port/money", ""},
		{"postgres://bank:geheim@db/money?ledger=", ""},
		{"postgres://bank:geheim@db/money?ledger=pg_x", ""},
		{"postgres://bank:geheim@db/money?ledger=a%00b", ""},
		{"postgres://bank:geheim@db/money?ledger=a%22b", ""},
		{"postgres://bank:geheim@db/money?ledger=" + strings.Repeat("a", 64), ""},
		{"postgres://bank:geheim@db/money?sslmode=geheim", ""},
		{"postgres://bank:geheim@db/" + strings.Repeat("a", 4000), ""},
		{"mysql://bank:geheim@db/money", ""},
	} {
		name, err := postgres.Name(c.url)
		if name != c.name || (err == nil) != (c.name != "") || err != nil && !errors.Is(err, postgres.ErrURL) {
			t.Errorf("%s: %q, %v; want %q", c.url, name, err, c.name)
		}
		if strings.Contains(fmt.Sprint(name, err), "heim") {
			t.Errorf("%s: the password is told: %s, %v", c.url, name, err)
		}
	}
}
