package pgtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"bourse/bank/store"
	"bourse/bank/store/postgres"

	"github.com/jackc/pgx/v5"
)

// Pair returns two different accounts among the given number of accounts, the lower one first.
// Transactions that lock the accounts in this order cannot deadlock.
func Pair(src *rand.Rand, accounts int) (from, to int) {
	from, to = src.IntN(accounts), src.IntN(accounts-1)
	if to >= from {
		to++
	}
	return min(from, to), max(from, to)
}

// Plain measures the number of transfers per second of the server with a simple design. Each
// client has a connection, and each transfer is a transaction that updates two balances and
// inserts an entry. It makes n transfers in total.
func Plain(b testing.TB, accounts, clients, n int) float64 {
	url := URL(b)
	j, err := postgres.Create(url, store.Options{}) // creates the schema of the ledger
	if err == nil {
		err = j.Close()
	}
	if err != nil {
		b.Fatal(err)
	}
	Exec(b, url, "create table accounts (id bigint primary key, micros bigint not null check (micros >= 0))")
	Exec(b, url, "insert into accounts select g, 1000000000 from generate_series(0, $1::bigint - 1) g", accounts)
	Exec(b, url, "create table entries (seq bigserial primary key, id text unique not null, payer bigint not null, payee bigint not null, micros bigint not null)")
	ctx := context.Background()
	conns := make([]*pgx.Conn, clients)
	for i := range conns {
		if conns[i], err = Connect(ctx, url); err != nil {
			b.Fatal(err)
		}
		defer conns[i].Close(ctx)
	}
	var all sync.WaitGroup
	start := time.Now()
	for c, conn := range conns {
		all.Go(func() {
			src := rand.New(rand.NewPCG(1, uint64(c)))
			for i := range n / clients {
				if err := plainly(ctx, conn, src, accounts, fmt.Sprintf("%d-%d", c, i)); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	return float64(n/clients*clients) / time.Since(start).Seconds()
}

func plainly(ctx context.Context, conn *pgx.Conn, src *rand.Rand, accounts int, id string) error {
	from, to := Pair(src, accounts)
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "update accounts set micros = micros - 1 where id = $1", from); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "update accounts set micros = micros + 1 where id = $1", to); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "insert into entries (id, payer, payee, micros) values ($1, $2, $3, 1)", id, from, to)
		return err
	})
}
