package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"bourse/bank/store"

	"github.com/jackc/pgx/v5"
)

// Batch starts a batch of changes.
func (k *backend) Batch() store.Batch { return &batch{k: k} }

// A batch is the set of rows written in one transaction.
type batch struct {
	k    *backend
	sets []row
	gone [][]byte // deleted keys
}

func (b *batch) Set(key, value []byte) error {
	b.sets = append(b.sets, row{key, value})
	return nil
}

func (b *batch) Delete(key []byte) error {
	b.gone = append(b.gone, key)
	return nil
}

func (b *batch) Close() error { return nil }

// Commit writes the rows in one transaction. The transaction requires that this backend is
// still the ledger's writer, and that the head of the ledger is still the head that the
// writer's last transaction wrote.
func (b *batch) Commit(head store.Head, _ store.Write) error {
	k := b.k
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.gone(); err != nil {
		return err
	}
	write := b.all
	if len(b.sets) == 1 && len(b.gone) == 0 && b.sets[0].key[0] == 'G' {
		write = b.group
	}
	sent := time.Now()
	err := k.insist(func(ctx context.Context) error { return write(ctx, head) })
	k.fetched = nil
	if errors.Is(err, errTaken) && k.isWriter() {
		err = fmt.Errorf("%w: another writer changed the last group or the head", store.ErrDamaged)
	}
	if err != nil {
		k.lost = plain(err)
		return k.lost
	}
	k.head = head.String()
	for _, r := range b.sets {
		if r.key[0] == 'G' {
			k.last = int64(binary.BigEndian.Uint64(r.key[1:]))
		}
	}
	k.beaten = sent
	return nil
}

// isWriter reports whether this is still the ledger's writer.
func (k *backend) isWriter() bool {
	ctx, cancel := k.within()
	defer cancel()
	s, err := readState(ctx, k.conn)
	return (err == nil || errors.Is(err, store.ErrUnfinished)) && s.writer == k.writer
}

// advance updates the row of the ledger. $1 is the new head, $2 the writer, $3 the previous
// head and $4 the first entry of the last group.
const advance = `update ledger set beat = beat + 1, head = $1
	where writer = $2 and head = $3 and (select coalesce(max(first), 0) from groups) = $4`

// group writes a single group. A single statement is a transaction by itself.
func (b *batch) group(ctx context.Context, head store.Head) error {
	first := int64(binary.BigEndian.Uint64(b.sets[0].key[1:]))
	tag, err := b.k.conn.Exec(ctx, "with mine as ("+advance+` returning 1)
		insert into groups (first, value) select $5::bigint, $6::bytea from mine`,
		head.String(), b.k.writer, b.k.head, b.k.last, first, b.sets[0].value)
	return b.mine(tag.RowsAffected(), err)
}

// mine returns errTaken if the statement of the writer did not change exactly one row.
func (b *batch) mine(rows int64, err error) error {
	if err == nil && rows != 1 {
		return errTaken
	}
	return err
}

// all writes rows of any number of tables.
func (b *batch) all(ctx context.Context, head store.Head) error {
	tx, err := b.k.conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx)
	tag, err := tx.Exec(ctx, advance, head.String(), b.k.writer, b.k.head, b.k.last)
	if err := b.mine(tag.RowsAffected(), err); err != nil {
		return err
	}
	var all pgx.Batch
	for _, t := range tables {
		b.queue(&all, t)
	}
	if err := tx.SendBatch(ctx, &all).Close(); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// queue adds the statements for the rows of table t.
func (b *batch) queue(all *pgx.Batch, t table) {
	var numbers []int64
	var names, values, gone [][]byte
	for _, r := range b.sets {
		if r.key[0] != t.letter {
			continue
		}
		values = append(values, r.value)
		if t.number {
			numbers = append(numbers, t.column(r.key).(int64))
		} else {
			names = append(names, r.key[1:])
		}
	}
	for _, key := range b.gone {
		if key[0] == t.letter {
			gone = append(gone, key[1:])
		}
	}
	var keys any = names
	kind := "bytea"
	if t.number {
		keys, kind = numbers, "bigint"
	}
	if len(values) > 0 {
		sql := fmt.Sprintf("insert into %[2]s (%[1]s, value) select * from unnest($1::%[3]s[], $2::bytea[])", t.key, t.name, kind)
		if t.letter != 'G' { // a group never changes
			sql += fmt.Sprintf(" on conflict (%s) do update set value = excluded.value", t.key)
		}
		all.Queue(sql, keys, values)
	}
	if len(gone) > 0 {
		all.Queue(fmt.Sprintf("delete from %s where %s = any($1)", t.name, t.key), gone)
	}
}
