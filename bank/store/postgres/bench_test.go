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
)

const (
	clients  = 256
	accounts = 10_000
)

// BenchmarkTransfers reports the durable transfers per second of 256 clients between 10,000
// accounts, each with its own id, in a directory and in PostgreSQL. It also reports the ratio
// to the same server with a plain design: each client has a connection, and each transfer is a
// transaction that updates two balances and inserts an entry.
func BenchmarkTransfers(b *testing.B) {
	for b.Loop() {
		plain := pgtest.Plain(b, accounts, clients, 4000)
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

// share calls f from every client, n times in total, and returns the calls per second.
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
		from, to := pgtest.Pair(src, accounts)
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
