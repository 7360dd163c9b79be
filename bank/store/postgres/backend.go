package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"bourse/bank"
	"bourse/bank/store"

	"github.com/jackc/pgx/v5"
)

// A backend is a [store.Backend] in a database. The mutex mu serializes the use of its
// connection by the journal and by the heartbeat, which shows that the writer is alive.
type backend struct {
	place
	timing
	writer string // token of this writer
	head   string // current head of the ledger
	last   int64  // first entry of the last group, or 0 if there is none

	mu      sync.Mutex
	conn    *pgx.Conn         // nil after Release
	lost    error             // reason why the backend can no longer write
	beaten  time.Time         // time at which the last successful update of beat was sent
	fetched map[string][]byte // prefetched values by key; nil if there is no value

	stop, stopped chan struct{} // channels of the heartbeat; stop is nil unless it runs
}

var _ store.Backend = (*backend)(nil)

// Create creates a new ledger at a URL. It returns an error wrapping [store.ErrExists] if
// there is already a ledger.
func Create(url string, opts store.Options) (*store.Journal, error) {
	return create(url, opts, ordinary())
}

func create(url string, opts store.Options, t timing) (*store.Journal, error) {
	p, err := parse(url)
	if err != nil {
		return nil, err
	}
	k := &backend{place: p, timing: t}
	if err := k.create(opts.Unfinished); err != nil {
		k.Release()
		return nil, fmt.Errorf("create ledger %s: %w", p.name, plain(err))
	}
	return store.NewJournal(k, p.name, opts), nil
}

// Open opens the ledger at a URL and behaves like [store.Open].
func Open(url string, opts store.Options) (*store.Journal, *bank.Ledger, error) {
	return open(url, opts, ordinary())
}

func open(url string, opts store.Options, t timing) (*store.Journal, *bank.Ledger, error) {
	p, err := parse(url)
	if err != nil {
		return nil, nil, err
	}
	k := &backend{place: p, timing: t}
	head, err := k.open()
	if err != nil {
		k.Release()
		return nil, nil, fmt.Errorf("open ledger %s: %w", p.name, plain(err))
	}
	return store.Resume(k, p.name, head, opts)
}

// OpenSequencer opens the ledger at a URL for concurrent use.
func OpenSequencer(url string, opts store.Options) (*store.Sequencer, error) {
	j, l, err := Open(url, opts)
	if err != nil {
		return nil, err
	}
	return store.NewSequencer(j, l), nil
}

// schema creates the tables of an empty ledger.
var schema = [...]string{
	"create table ledger (one boolean primary key default true check (one), format bigint not null, writer text not null, beat bigint not null, head text not null)",
	"create table groups (first bigint primary key, value bytea not null)",
	"create table balances (name bytea primary key, value bytea not null)",
	"create table contracts (page bigint primary key, value bytea not null)",
	"create table requests (id bytea primary key, value bytea not null)",
	"create table standing (one bytea primary key, value bytea not null)",
}

func (k *backend) create(copying bool) (err error) {
	if k.conn, err = k.connect(k.timing); err != nil {
		return err
	}
	ctx, cancel := k.within()
	defer cancel()
	if err := k.prepare(ctx); err != nil {
		return err
	}
	tx, err := k.conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx)
	var there bool
	k.beaten = time.Now()
	err = tx.QueryRow(ctx, "select exists (select from information_schema.schemata where schema_name = $1)", k.schema).Scan(&there)
	if err == nil && !there {
		_, err = tx.Exec(ctx, "create schema "+pgx.Identifier{k.schema}.Sanitize())
	}
	for i := 0; i < len(schema) && err == nil; i++ {
		_, err = tx.Exec(ctx, schema[i])
	}
	if err == nil {
		f := format
		if copying {
			f = unfinished
		}
		err = tx.QueryRow(ctx, "insert into ledger (format, writer, beat, head) values ($1, gen_random_uuid()::text, 1, $2) returning writer",
			f, store.NoEntries().String()).Scan(&k.writer)
		k.head = store.NoEntries().String()
	}
	if err == nil {
		err = tx.Commit(ctx)
	}
	if isCode(err, notUnique) { // another process created the ledger at the same time
		return store.ErrExists
	}
	if err == nil {
		k.live()
	}
	return err
}

// prepare ensures that a transaction is durable before the server confirms it. It also makes
// the server end a transaction whose writer is unreachable, because the transaction would
// block other writers.
func (k *backend) prepare(ctx context.Context) error {
	var commit, idle, reach *string // nil if the server does not know the setting
	err := k.conn.QueryRow(ctx, `select current_setting('synchronous_commit', true),
		current_setting('idle_in_transaction_session_timeout', true), current_setting('tcp_keepalives_idle', true)`).Scan(&commit, &idle, &reach)
	var set pgx.Batch
	if commit != nil && *commit == "off" {
		set.Queue("set synchronous_commit = on")
	}
	if idle != nil {
		set.Queue(fmt.Sprintf("set idle_in_transaction_session_timeout = %d", k.answer.Milliseconds()))
	}
	if reach != nil { // give up an unreachable client after 25 s in total; no effect on a Unix socket
		set.Queue("set tcp_keepalives_idle = 10")
		set.Queue("set tcp_keepalives_interval = 5")
		set.Queue("set tcp_keepalives_count = 3")
	}
	if err != nil || set.Len() == 0 {
		return err
	}
	return k.conn.SendBatch(ctx, &set).Close()
}

// open acquires the ledger for this writer and returns the head that it must reach.
func (k *backend) open() (store.Head, error) {
	var err error
	if k.conn, err = k.connect(k.timing); err != nil {
		return store.Head{}, err
	}
	ctx, cancel := k.within()
	defer cancel()
	if err := k.prepare(ctx); err != nil {
		return store.Head{}, err
	}
	text, err := k.take()
	if err != nil {
		return store.Head{}, err
	}
	k.head = text
	k.live()
	head, err := store.ParseHead(text)
	if err != nil {
		return store.Head{}, fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	return head, k.checkEnd(head)
}

// checkEnd checks that the last group ends at head and stores its first entry in k.last. The
// head and the group were written in one transaction.
func (k *backend) checkEnd(head store.Head) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	ctx, cancel := k.within()
	defer cancel()
	var value []byte
	is := store.NoEntries()
	switch err := k.conn.QueryRow(ctx, "select first, value from groups order by first desc limit 1").Scan(&k.last, &value); {
	case err == nil:
		is = store.GroupHead(k.last, value)
	case !errors.Is(err, pgx.ErrNoRows):
		return err
	}
	switch {
	case is.Size < head.Size:
		return fmt.Errorf("%w: entries %d to %d are missing", store.ErrDamaged, is.Size+1, head.Size)
	case is != head:
		return fmt.Errorf("%w: the last group ends at %v, but the head is %v", store.ErrDamaged, is, head)
	}
	return nil
}

// Get returns the value at key, or nil if there is none.
func (k *backend) Get(key []byte) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if value, ok := k.fetched[string(key)]; ok {
		return value, nil
	}
	if err := k.gone(); err != nil {
		return nil, err
	}
	value, err := get(k.conn, k.timing, key)
	return value, k.told(err)
}

var _ store.Fetcher = (*backend)(nil)

// Fetch reads the values at keys in one query. It ignores errors, because Get will report
// them.
func (k *backend) Fetch(keys [][]byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fetched = nil
	if k.gone() != nil {
		return
	}
	var err error
	k.fetched, err = fetch(k.conn, k.timing, keys)
	k.told(err)
}

// Scan yields the keys and values in [from, to). It stores an error in err.
func (k *backend) Scan(from, to []byte, err *error) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		k.mu.Lock()
		defer k.mu.Unlock()
		if *err = k.gone(); *err != nil {
			return
		}
		var e error
		scan(k.conn, k.timing, from, to, &e)(yield)
		if e != nil {
			*err = k.told(e)
		}
	}
}

// gone returns the reason why the database is no longer available, or nil.
func (k *backend) gone() error {
	if k.lost == nil && k.conn == nil {
		return fmt.Errorf("ledger is closed")
	}
	return k.lost
}

// told converts err to a one-line error with a remedy. If the connection is closed, told stores
// the error.
func (k *backend) told(err error) error {
	if err == nil {
		return nil
	}
	err = plain(err)
	if k.conn != nil && k.conn.IsClosed() {
		k.lost = err
	}
	return err
}
