package store

import (
	"errors"
	"fmt"

	"bourse/bank"
	"bourse/bank/owners"
	"bourse/bank/pinned"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// GroupSize is the most entries that are written as one value.
const GroupSize = 8190

// format is the version of Pebble's files that is written: the newest, which
// checksums the most.
const format = pebble.FormatValueSeparation

// Tables, the first byte of a key.
const (
	groupTable    = 'G'
	balanceTable  = 'B'
	contractTable = 'C'
	requestTable  = 'I'
	stateTable    = 'S' // and owners
)

// Options say how a ledger is kept. The zero value suits a live bank on disk.
type Options struct {
	FS vfs.FS // nil means the disk

	// BalancesEvery is the number of groups between two writings of the
	// balances, and so the most that opening replays; 0 means 64.
	BalancesEvery int

	// Reproducible makes the same entries, flushed at the same places, the same
	// bytes on disk, and durable when the ledger is closed: for runs. Pebble tells the
	// time in the tables that it makes, so all is in its write-ahead log, and in memory
	// once such a ledger is opened again. In the log stands how far it was synced, too,
	// which depends on the moment, so it is synced once, at the end.
	Reproducible bool

	// Now is the clock of the ledger: it returns the seconds since [bank.Epoch], by which
	// entries are dated and orders expire. Nil: an entry has the time that it is asked for
	// with, and no bound, as in runs.
	Now func() float64

	// Unfinished makes, in Create, a copy that nobody opens until [Finish], or the
	// like of another backend: else [ErrUnfinished] is what they are told.
	Unfinished bool

	// Fatal is told of a write that failed, after which nothing more can be
	// promised, and does not return; nil means one sentence on standard error
	// and exit status 1.
	Fatal func(error)

	memTable uint64 // bytes of entries that Pebble keeps in memory; 0 means as many as it likes
}

const (
	defaultBalancesEvery = 64
	reproducibleMemory   = 2 << 30 // Pebble flushes at half of it
)

// What opening a ledger may find.
var (
	ErrExists = errors.New("a ledger is there already")
	ErrNone   = errors.New("no ledger is there")

	// ErrOccupied means that a place is not empty, and holds no ledger.
	ErrOccupied = errors.New("the folder is not empty, and holds no ledger: name a new or an empty one")

	ErrDamaged = errors.New("ledger is damaged; audit it, and restore it from a copy")
	ErrLocked  = errors.New("another process has the ledger open")
	ErrFormat  = errors.New("ledger is of format 1, which only the bourse that wrote it reads; this one reads format 2")
)

// A Journal is a [bank.Journal] in a [Backend]. It is not safe for concurrent use.
// After an error of Append or Flush it takes nothing more.
type Journal struct {
	name    string              // of the ledger, for people
	every   int                 // groups between two writings of the balances
	backend Backend             // nil once it is closed
	fetch   func(keys [][]byte) // of the backend, or nil

	now      func() float64 // the clock, or nil
	owners   owners.Owners
	tree     tree
	time     float64
	group    group
	pending  pending
	since    int // groups since balances were written
	replayed int64
	err      error
}

var _ bank.Journal = (*Journal)(nil)

// Create makes a new ledger in dir, which is made if need be. On disk both are for their
// owner alone, unless the ledger is reproducible: that of a run, to be shown. It returns
// an error wrapping [ErrExists] if a ledger is there, or [ErrOccupied] if something else
// is.
func Create(dir string, opts Options) (*Journal, error) {
	k, err := newBackend(dir, opts)
	if err != nil {
		return nil, fmt.Errorf("create ledger %s: %w", dir, plain(err))
	}
	return NewJournal(k, dir, opts), nil
}

// newBackend makes a directory for a new ledger.
func newBackend(dir string, opts Options) (Backend, error) {
	d := newDirectory(dir, opts)
	if err := d.create(); err != nil {
		d.Release()
		return nil, err
	}
	return d, nil
}

// NewJournal returns the journal of a new ledger in k, which holds nothing. Its name
// is for people.
func NewJournal(k Backend, name string, opts Options) *Journal {
	j := &Journal{name: name, every: opts.defaults().BalancesEvery, now: opts.Now, backend: k, tree: newTree()}
	if f, ok := k.(Fetcher); ok {
		j.fetch = f.Fetch
	}
	j.pending.init()
	return j
}

func (o Options) defaults() Options {
	if o.FS == nil {
		o.FS = pinned.Disk()
	}
	if o.BalancesEvery == 0 {
		o.BalancesEvery = defaultBalancesEvery
	}
	if o.Fatal == nil {
		o.Fatal = exit
	}
	return o
}

// Append adds e to the group that [Journal.Flush] writes, and writes it first if
// it is full.
func (j *Journal) Append(e *bank.Entry) error {
	if j.err != nil {
		return j.err
	}
	if e.Seq != j.tree.size+1 {
		return fmt.Errorf("append entry %d after entry %d", e.Seq, j.tree.size)
	}
	if j.group.count == GroupSize {
		if err := j.Flush(); err != nil {
			return err
		}
	}
	j.owners.Book(e)
	j.group.add(e, &j.tree)
	j.pending.add(e, &j.tree)
	j.time = e.Time
	return nil
}

// Flush makes durable what was appended, unless the ledger is reproducible.
func (j *Journal) Flush() error { return j.flush(false) }

func (j *Journal) flush(closing bool) error {
	if j.err != nil || closing && j.group.count == 0 && j.since == 0 {
		return j.err
	}
	change := j.write
	if !closing && j.group.count == 0 {
		change = j.held
	}
	if err := change(closing); err != nil {
		j.err = fmt.Errorf("ledger %s: entries after %d: %w", j.name, j.tree.size-int64(j.group.count), plain(err))
	}
	return j.err
}

// held returns an error unless the ledger is still this journal's.
func (j *Journal) held(bool) error {
	if h, ok := j.backend.(Holder); ok {
		return h.Held()
	}
	return nil
}

func (j *Journal) write(closing bool) error {
	batch := j.backend.Batch()
	defer batch.Close()
	head := j.tree.head()
	if j.group.count > 0 {
		first := j.tree.size - int64(j.group.count) + 1
		if err := batch.Set(seqKey(first), j.group.encode(head.Root)); err != nil {
			return err
		}
		j.since++
	}
	w := WriteGroup
	if j.since >= j.every {
		w = WriteBalances
	}
	if closing {
		w = WriteLast
	}
	if w != WriteGroup {
		if err := j.pending.write(batch, j); err != nil {
			return err
		}
	}
	if err := batch.Commit(head, w); err != nil {
		return err
	}
	j.group.clear()
	if w != WriteGroup {
		j.pending.init()
		j.since = 0
	}
	return nil
}

// Head returns the head of the log, entries not yet flushed included.
func (j *Journal) Head() Head { return j.tree.head() }

// Close flushes, writes the balances, and seals the ledger. To close it again does
// nothing.
func (j *Journal) Close() error {
	if j.backend == nil {
		return nil
	}
	err := j.flush(true)
	if err == nil {
		err = j.backend.Close(j.tree.head())
	}
	err = errors.Join(err, j.backend.Release())
	j.backend, j.err = nil, errors.New("ledger is closed")
	if err != nil {
		return fmt.Errorf("close ledger %s: %w", j.name, plain(err))
	}
	return nil
}

// release lets the ledger go as a process that died would.
func (j *Journal) release() error {
	if j.backend == nil {
		return nil
	}
	return j.backend.Release()
}
