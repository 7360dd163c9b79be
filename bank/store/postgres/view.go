package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"bourse/bank/store"

	"github.com/jackc/pgx/v5"
)

// A View is a read-only snapshot of a ledger. It locks nothing and does not see later writes.
type View struct {
	conn *pgx.Conn
	tx   pgx.Tx
	name string
	head string
	timing

	fetched map[string][]byte // prefetched values by key; nil if there is no value
}

var _ store.Values = (*View)(nil)

// OpenView opens the ledger at a URL for reading. It returns an error wrapping [store.ErrNone]
// if there is none.
func OpenView(url string) (*View, error) { return openView(url, false) }

// OpenUnfinished is like OpenView but accepts an incomplete copy.
func OpenUnfinished(url string) (*View, error) { return openView(url, true) }

func openView(url string, unfinished bool) (*View, error) {
	p, err := parse(url)
	if err != nil {
		return nil, err
	}
	v := &View{name: p.name, timing: ordinary()}
	err = v.open(p)
	if unfinished && errors.Is(err, store.ErrUnfinished) {
		err = nil
	}
	if err != nil {
		if v.conn != nil {
			hangUp(v.conn, v.timing)
		}
		return nil, fmt.Errorf("read ledger %s: %w", p.name, plain(err))
	}
	return v, nil
}

func (v *View) open(p place) (err error) {
	if v.conn, err = p.connect(v.timing); err != nil {
		return err
	}
	ctx, cancel := v.within()
	defer cancel()
	if v.tx, err = v.conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}); err != nil {
		return err
	}
	s, err := readState(ctx, v.tx)
	v.head = s.head
	return err
}

// OpenReader opens the ledger at a URL for reading its entries.
func OpenReader(url string) (*store.Reader, error) {
	v, err := OpenView(url)
	if err != nil {
		return nil, err
	}
	head, err := store.ParseHead(v.head)
	if err != nil {
		v.Close()
		return nil, fmt.Errorf("read ledger %s: %w: %w", v.name, store.ErrDamaged, err)
	}
	return store.NewReader(v, head, v.Close), nil
}

// Name returns the location of the ledger, for messages.
func (v *View) Name() string { return v.name }

// Head returns the stored head, as text.
func (v *View) Head() string { return v.head }

// Get returns the value at key, or nil if there is none.
func (v *View) Get(key []byte) ([]byte, error) {
	if value, ok := v.fetched[string(key)]; ok {
		return value, nil
	}
	value, err := get(v.tx, v.timing, key)
	return value, v.told(err)
}

// Fetch reads the values of keys in one query, so that Get can return them.
func (v *View) Fetch(keys [][]byte) { v.fetched, _ = fetch(v.tx, v.timing, keys) }

// Scan yields the keys and values in [from, to). It stores an error in err.
func (v *View) Scan(from, to []byte, err *error) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		var e error
		scan(v.tx, v.timing, from, to, &e)(yield)
		if e != nil {
			*err = v.told(e)
		}
	}
}

func (v *View) told(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("ledger %s: %w", v.name, plain(err))
}

// Close closes the view.
func (v *View) Close() error { return hangUp(v.conn, v.timing) }

// A state is the single row of table ledger.
type state struct {
	format int64
	writer string
	beat   int64
	head   string
}

// Formats of tables. An unfinished copy has the second of these formats, so that older
// versions do not open it either.
const (
	format     = 2
	unfinished = -2
)

// readState returns the state. An error wraps [store.ErrNone] if there is no ledger.
func readState(ctx context.Context, q querier) (s state, err error) {
	err = q.QueryRow(ctx, "select format, writer, beat, head from ledger").Scan(&s.format, &s.writer, &s.beat, &s.head)
	switch {
	case err == pgx.ErrNoRows || isCode(err, noTable, noSchema):
		return s, store.ErrNone
	case err != nil:
		return s, err
	case s.format == unfinished:
		return s, store.ErrUnfinished
	case s.format < format:
		return s, store.ErrFormat
	case s.format != format:
		return s, fmt.Errorf("%w: found format %d of tables, want %d", store.ErrDamaged, s.format, format)
	}
	return s, nil
}
