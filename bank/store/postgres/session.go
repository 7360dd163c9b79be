package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"bourse/bank/store"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// These are the SQLSTATE codes that this package distinguishes.
const (
	noTable       = "42P01"
	noSchema      = "3F000"
	noPermission  = "42501"
	tableThere    = "42P07"
	schemaThere   = "42P06"
	notUnique     = "23505"
	again         = "40001" // mostly from CockroachDB; the transaction was rolled back
	deadlock      = "40P01" // the transaction was rolled back
	diskFull      = "53100"
	readOnlyPlace = "25006"
)

// A timing contains time limits.
type timing struct {
	answer time.Duration // time limit of a statement
	beat   time.Duration // interval of a writer's heartbeat
	dead   time.Duration // time until a writer without heartbeat is presumed dead
}

func ordinary() timing {
	return timing{answer: 10 * time.Second, beat: 500 * time.Millisecond, dead: 3 * time.Second}
}

// within returns a context with the time limit of a statement.
func (t timing) within() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), t.answer)
}

// insist retries f while the server rolls back its transaction and asks for a retry, within
// the time limit of a statement.
func (t timing) insist(f func(context.Context) error) error {
	end := time.Now().Add(t.answer)
	for pause := time.Millisecond; ; pause = min(2*pause, t.answer/10) {
		ctx, cancel := t.within()
		err := f(ctx)
		cancel()
		if !isCode(err, again, deadlock) || time.Now().After(end) {
			return err
		}
		time.Sleep(pause)
	}
}

func (p place) connect(t timing) (*pgx.Conn, error) {
	ctx, cancel := t.within()
	defer cancel()
	return pgx.ConnectConfig(ctx, p.config)
}

// hangUp closes a connection. It does not wait for a server that does not respond.
func hangUp(conn *pgx.Conn, t timing) error {
	ctx, cancel := context.WithTimeout(context.Background(), min(t.answer, time.Second))
	defer cancel()
	return conn.Close(ctx)
}

func isCode(err error, codes ...string) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && slices.Contains(codes, e.Code)
}

// plain describes an error and its remedy in one line.
func plain(err error) error {
	var server *pgconn.PgError
	var connect *pgconn.ConnectError
	var network net.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrExists), errors.Is(err, store.ErrNone), errors.Is(err, store.ErrLocked), errors.Is(err, store.ErrDamaged), errors.Is(err, store.ErrFormat), errors.Is(err, store.ErrUnfinished):
		return err
	case isCode(err, noTable, noSchema):
		return store.ErrNone
	case isCode(err, tableThere, schemaThere):
		return store.ErrExists
	case isCode(err, again, deadlock):
		return fmt.Errorf("the server repeatedly aborted the transaction: check what else uses the database, then open the ledger again (%s)", oneLine(err))
	case isCode(err, noPermission):
		return fmt.Errorf("%s: ask the owner of the database for permission", oneLine(err))
	case isCode(err, diskFull):
		return errors.New("the server's disk is full: free space, then open the ledger again")
	case isCode(err, readOnlyPlace):
		return errors.New("the server is read-only (a standby, or configured so): write to its primary")
	case errors.As(err, &connect):
		return fmt.Errorf("the server cannot be reached: %s", oneLine(connect))
	case errors.As(err, &server):
		return fmt.Errorf("the server refuses: %s", oneLine(server))
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return errors.New("the server did not answer in time: check that it is running, then open the ledger again")
	}
	return fmt.Errorf("the connection to the server was lost: check that it is running, then open the ledger again (%s)", oneLine(err))
}

// oneLine returns the text of err in one line of limited length.
func oneLine(err error) string {
	s := strings.Join(strings.Fields(err.Error()), " ")
	if len(s) > 300 {
		s = s[:300] + "…"
	}
	return s
}
