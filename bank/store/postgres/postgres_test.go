package postgres_test

import (
	"context"
	"testing"
	"time"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/store"
	"bourse/bank/store/postgres"
	"bourse/bank/store/postgres/pgtest"
)

// TestConformance runs the suite of all stores on a server.
func TestConformance(t *testing.T) {
	t.Parallel()
	suite(t, func(t testing.TB) Place { return onServer{t, pgtest.URL(t)} })
}

type onServer struct {
	t   testing.TB
	url string
}

func (s onServer) Create(o store.Options) (*store.Journal, error) {
	return postgres.CreateWith(s.url, o)
}

func (s onServer) Open(o store.Options) (*store.Journal, *bank.Ledger, error) {
	return postgres.OpenWith(s.url, o, 10*time.Second, 2*time.Second)
}

func (s onServer) Reader() (*store.Reader, error) { return postgres.OpenReader(s.url) }

func (s onServer) Audit(o audit.Options) (*audit.Report, error) {
	v, err := postgres.OpenView(s.url)
	if err != nil {
		return nil, err
	}
	defer v.Close()
	return audit.From(v, v.Head(), o)
}

// Lose disconnects the writer.
func (s onServer) Lose() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, err := pgtest.Connect(ctx, s.url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	ledger, err := postgres.Ledger(s.url)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and pid <> pg_backend_pid()", "bourse "+ledger)
	return err
}
