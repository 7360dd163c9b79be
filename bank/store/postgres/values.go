package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"
)

// A table contains the keys that start with its letter.
type table struct {
	letter byte
	name   string
	key    string // name of the key column
	number bool   // whether the key is 8 bytes, big-endian
}

// tables are sorted by letter.
var tables = [...]table{
	{'B', "balances", "name", false},
	{'C', "contracts", "page", true},
	{'G', "groups", "first", true},
	{'I', "requests", "id", false},
	{'S', "standing", "one", false},
}

func tableOf(key []byte) (table, error) {
	for _, t := range tables {
		if len(key) > 0 && key[0] == t.letter && (!t.number || len(key) == 9) {
			return t, nil
		}
	}
	return table{}, fmt.Errorf("key %x belongs to no table", key)
}

// column returns a key as the value of its column.
func (t table) column(key []byte) any {
	if t.number {
		return int64(binary.BigEndian.Uint64(key[1:]))
	}
	return key[1:]
}

// A querier is a connection or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// get returns the value at key, or nil if there is none.
func get(q querier, t timing, key []byte) (value []byte, err error) {
	table, err := tableOf(key)
	if err != nil {
		return nil, err
	}
	ctx, cancel := t.within()
	defer cancel()
	sql := fmt.Sprintf("select value from %s where %s = $1", table.name, table.key)
	if err = q.QueryRow(ctx, sql, table.column(key)).Scan(&value); errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return value, err
}

// fetch returns the values at keys. Missing values are nil.
func fetch(q querier, t timing, keys [][]byte) (map[string][]byte, error) {
	values := make(map[string][]byte, len(keys))
	for _, table := range tables {
		var numbers []int64
		var names [][]byte
		for _, key := range keys {
			if key[0] != table.letter {
				continue
			}
			values[string(key)] = nil
			if table.number {
				numbers = append(numbers, table.column(key).(int64))
			} else {
				names = append(names, key[1:])
			}
		}
		var columns any = names
		if table.number {
			columns = numbers
		}
		if len(names)+len(numbers) == 0 {
			continue
		}
		if err := fetchRows(q, t, table, columns, values); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func fetchRows(q querier, t timing, table table, columns any, values map[string][]byte) error {
	ctx, cancel := t.within()
	defer cancel()
	rows, err := q.Query(ctx, fmt.Sprintf("select %[1]s, value from %[2]s where %[1]s = any($1)", table.key, table.name), columns)
	if err != nil {
		return err
	}
	found, err := readRows(rows, table)
	for _, r := range found {
		values[string(r.key)] = r.value
	}
	return err
}

// A row is a key with its value.
type row struct{ key, value []byte }

// These are the page sizes of a scan: the minimum and maximum number of rows, and the target
// number of bytes.
const (
	leastPage = 8
	mostPage  = 4096
	pageBytes = 4 << 20
)

// scan yields the keys and values in [from, to), whose bounds are keys or table letters. scan
// reads one page at a time, so that other code can use q between two rows.
func scan(q querier, t timing, from, to []byte, err *error) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		for _, table := range tables {
			if table.letter < from[0] || bytes.Compare([]byte{table.letter}, to) >= 0 {
				continue
			}
			next, op, size := []byte{table.letter}, ">=", leastPage
			if from[0] == table.letter {
				next = from
			}
			if len(next) == 1 && table.number {
				next = append(next, make([]byte, 8)...)
			}
			for {
				page, e := readPage(q, t, table, next, op, size)
				if e != nil {
					*err = e
					return
				}
				read := 0
				for _, r := range page {
					if bytes.Compare(r.key, to) >= 0 || !yield(r.key, r.value) {
						return
					}
					read += len(r.value)
				}
				if len(page) < size {
					break
				}
				next, op = page[len(page)-1].key, ">"
				switch {
				case read > pageBytes:
					size = max(size/2, leastPage)
				case read < pageBytes/4:
					size = min(size*2, mostPage)
				}
			}
		}
	}
}

func readPage(q querier, t timing, table table, from []byte, op string, size int) ([]row, error) {
	ctx, cancel := t.within()
	defer cancel()
	sql := fmt.Sprintf("select %[1]s, value from %[2]s where %[1]s %[3]s $1 order by %[1]s limit $2", table.key, table.name, op)
	rows, err := q.Query(ctx, sql, table.column(from), size)
	if err != nil {
		return nil, err
	}
	return readRows(rows, table)
}

func readRows(rows pgx.Rows, table table) ([]row, error) {
	return pgx.CollectRows(rows, func(r pgx.CollectableRow) (row, error) {
		k := row{key: []byte{table.letter}}
		var number int64
		var name []byte
		if table.number {
			err := r.Scan(&number, &k.value)
			k.key = binary.BigEndian.AppendUint64(k.key, uint64(number))
			return k, err
		}
		err := r.Scan(&name, &k.value)
		k.key = append(k.key, name...)
		return k, err
	})
}
