package postgres_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"bourse/bank"
	"bourse/bank/store"
	"bourse/bank/store/postgres"
	"bourse/bank/store/postgres/pgtest"

	"github.com/jackc/pgx/v5"
)

const (
	clients  = 256
	accounts = 10_000
)

// BenchmarkTransfers reports durable transfers a second of 256 clients between 10,000
// accounts, each with an id of its own, in a directory and in PostgreSQL, and how many
// times that is what the same server does for the same clients in the plain way: a
// connection each, and a transaction a transfer that updates two balances and inserts
// an entry.
func BenchmarkTransfers(b *testing.B) {
	for b.Loop() {
		plain := plainly256(b, 4000)
		server := transfers(b, 20_000, func() (*store.Journal, error) { return postgres.Create(pgtest.URL(b), store.Options{}) })
		disk := transfers(b, 20_000, func() (*store.Journal, error) {
			return store.Create(filepath.Join(b.TempDir(), "bank"), store.Options{})
		})
		b.ReportMetric(disk, "directory/s")
		b.ReportMetric(server, "postgres/s")
		b.ReportMetric(plain, "plain-sql/s")
		b.ReportMetric(disk/plain, "x-directory-of-plain")
		b.ReportMetric(server/plain, "x-postgres-of-plain")
	}
}

// share calls f from every client, n times in all, and returns calls a second.
func share(n int, f func(client, i int, src *rand.Rand)) float64 {
	var wg sync.WaitGroup
	start := time.Now()
	for c := range clients {
		wg.Go(func() {
			src := rand.New(rand.NewPCG(1, uint64(c)))
			for i := range n / clients {
				f(c, i, src)
			}
		})
	}
	wg.Wait()
	return float64(n/clients*clients) / time.Since(start).Seconds()
}

// pair returns two accounts, the lower first: so no two transactions wait for each
// other.
func pair(src *rand.Rand) (from, to int) {
	from, to = src.IntN(accounts), src.IntN(accounts-1)
	if to >= from {
		to++
	}
	return min(from, to), max(from, to)
}

func transfers(b *testing.B, n int, create func() (*store.Journal, error)) float64 {
	j, err := create()
	if err != nil {
		b.Fatal(err)
	}
	l := bank.New(j)
	for a := range accounts {
		to, err := l.Account(fmt.Sprintf("user:%d", a))
		if err == nil {
			err = l.Mint(0, to, bank.Micros(1e9))
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := j.Flush(); err != nil {
		b.Fatal(err)
	}
	s := store.NewSequencer(j, l)
	rate := share(n, func(client, i int, src *rand.Rand) {
		from, to := pair(src)
		e := store.Order{ID: fmt.Sprintf("%d-%d", client, i), From: fmt.Sprintf("user:%d", from), To: fmt.Sprintf("user:%d", to), Amount: bank.Micros(1)}.Entry(0)
		if _, err := s.Do(context.Background(), e); err != nil {
			b.Error(err)
		}
	})
	if err := s.Close(); err != nil {
		b.Error(err)
	}
	return rate
}

func plainly256(b *testing.B, n int) float64 {
	url := pgtest.URL(b)
	j, err := postgres.Create(url, store.Options{}) // for its schema
	if err != nil {
		b.Fatal(err)
	}
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
	pgtest.Exec(b, url, "create table accounts (id bigint primary key, micros bigint not null check (micros >= 0))")
	pgtest.Exec(b, url, "insert into accounts select g, 1000000000 from generate_series(0, $1::bigint - 1) g", accounts)
	pgtest.Exec(b, url, "create table entries (seq bigserial primary key, id text unique not null, payer bigint not null, payee bigint not null, micros bigint not null)")
	ctx := context.Background()
	conns := make([]*pgx.Conn, clients)
	for i := range conns {
		if conns[i], err = pgtest.Connect(ctx, url); err != nil {
			b.Fatal(err)
		}
		defer conns[i].Close(ctx)
	}
	return share(n, func(client, i int, src *rand.Rand) {
		from, to := pair(src)
		err := pgx.BeginFunc(ctx, conns[client], func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "update accounts set micros = micros - 1 where id = $1", from); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, "update accounts set micros = micros + 1 where id = $1", to); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "insert into entries (id, payer, payee, micros) values ($1, $2, $3, 1)", fmt.Sprintf("%d-%d", client, i), from, to)
			return err
		})
		if err != nil {
			b.Error(err)
		}
	})
}
