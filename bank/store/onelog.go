package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"
	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// A oneLog is the [Backend] of a reproducible ledger that is being made: a directory whose
// database is new, and the write-ahead log that Pebble finds when it opens it. All goes there
// as Pebble would write it, and no memtable has it again.
type oneLog struct {
	dir    *directory
	log    *record.LogWriter
	values map[string][]byte // all but groups, which are not asked for while it is made
	batch  []byte            // a change, as Pebble writes it
	count  uint32            // of its keys
	next   pebble.SeqNum     // Pebble's number of a key
}

var _ Backend = (*oneLog)(nil)

const (
	firstLog = 2  // the number of a new database's log
	firstKey = 10 // the number that Pebble gives to the first key
)

// newDB holds the files of a new database, its log apart, as Pebble makes them.
var newDB = sync.OnceValues(func() (files map[string][]byte, err error) {
	mem := vfs.NewMem()
	d := newDirectory("", Options{FS: mem, Reproducible: true})
	db, err := pebble.Open(d.dir, d.options())
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		return nil, err
	}
	names, err := mem.List(d.dir)
	files = make(map[string][]byte)
	for _, name := range names {
		if kind, _ := numbered(name); name != lockFile && kind != "log" && err == nil {
			files[name], err = readFile(mem, name, 1<<20)
		}
	}
	return files, err
})

// putDB puts a new database into the directory, once HEAD says that it is open.
func (d *directory) putDB() error {
	files, err := newDB()
	if err != nil {
		return err
	}
	if err := d.unsealed(NoEntries()).write(d.opts.FS, d.dir); err != nil {
		return err
	}
	fsys := d.guarded()
	for _, name := range slices.Sorted(maps.Keys(files)) { // markers last
		if err := writeFile(fsys, fsys.PathJoin(d.dir, name), slices.Clone(files[name])); err != nil {
			return err
		}
	}
	return errors.Join(syncDir(fsys, d.dir), syncDir(fsys, fsys.PathDir(d.dir)))
}

// createLog makes the directory, for a ledger without entries that is kept in one log.
func (d *directory) createLog() (*oneLog, error) {
	if err := d.prepare(); err != nil {
		return nil, err
	}
	if err := d.putDB(); err != nil {
		return nil, err
	}
	if err := d.tidy(NoEntries()); err != nil {
		return nil, err
	}
	fsys := d.guarded()
	f, err := fsys.Create(fsys.PathJoin(d.dir, fmt.Sprintf("%06d.log", firstLog)), vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	log := record.NewLogWriter(f, firstLog, record.LogWriterConfig{WriteWALSyncOffsets: func() bool { return true }}) // as in format
	return &oneLog{dir: d, log: log, values: make(map[string][]byte), next: firstKey}, nil
}

func (l *oneLog) Get(key []byte) ([]byte, error) { return l.values[string(key)], nil }

func (l *oneLog) Scan(from, to []byte, _ *error) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		for _, key := range slices.Sorted(maps.Keys(l.values)) {
			if string(from) <= key && key < string(to) && !yield([]byte(key), l.values[key]) {
				return
			}
		}
	}
}

// Batch begins a change: one at a time.
func (l *oneLog) Batch() Batch {
	l.batch, l.count = append(l.batch[:0], make([]byte, batchrepr.HeaderLen)...), 0
	return (*oneLogBatch)(l)
}

type oneLogBatch oneLog

func (b *oneLogBatch) Set(key, value []byte) error {
	if key[0] != groupTable {
		b.values[string(key)] = slices.Clone(value)
	}
	b.add(pebble.InternalKeyKindSet, key)
	b.batch = append(binary.AppendUvarint(b.batch, uint64(len(value))), value...)
	return nil
}

func (b *oneLogBatch) Delete(key []byte) error {
	delete(b.values, string(key))
	b.add(pebble.InternalKeyKindDelete, key)
	return nil
}

func (b *oneLogBatch) add(kind pebble.InternalKeyKind, key []byte) {
	b.count++
	b.batch = append(b.batch, byte(kind))
	b.batch = append(binary.AppendUvarint(b.batch, uint64(len(key))), key...)
}

func (b *oneLogBatch) Commit(Head, Write) error {
	batchrepr.SetSeqNum(b.batch, b.next)
	batchrepr.SetCount(b.batch, b.count)
	b.next += pebble.SeqNum(b.count)
	_, err := b.log.WriteRecord(b.batch)
	return err
}

func (b *oneLogBatch) Close() error { return nil }

// Close makes the log durable and seals the files.
func (l *oneLog) Close(head Head) error {
	if l.log == nil {
		return nil
	}
	err := l.closeLog()
	if err == nil {
		err = l.dir.seal(head)
	}
	return errors.Join(err, l.Release())
}

func (l *oneLog) Release() error { return errors.Join(l.closeLog(), l.dir.Release()) }

func (l *oneLog) closeLog() (err error) {
	if l.log != nil {
		err = l.log.Close()
		l.log = nil
	}
	return err
}
