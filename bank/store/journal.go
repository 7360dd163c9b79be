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

// GroupSize is the maximum number of entries that are written as one value.
const GroupSize = 8190

// format is the version of Pebble's files to write. The newest version protects the most data
// with checksums.
const format = pebble.FormatValueSeparation

// These are the tables, each identified by the first byte of a key.
const (
	groupTable    = 'G'
	balanceTable  = 'B'
	contractTable = 'C'
	requestTable  = 'I'
	stateTable    = 'S' // state of the balances, and the owners
)

// Options configures a ledger. The zero value is suitable for a live bank on disk.
type Options struct {
	FS vfs.FS // file system of the ledger; nil means the disk

	// BalancesEvery is the number of groups between two writes of the balances, which is also
	// the maximum number of groups replayed on opening; 0 means 64.
	BalancesEvery int

	// Reproducible means that the files on disk depend only on the entries and on the points at
	// which they were flushed. This option is used for the ledgers of runs. Such a ledger
	// becomes durable only when it is closed. Pebble records the time in its tables. Therefore
	// all data of such a ledger stay in the write-ahead log, and in memory when the ledger is
	// opened again. The log also records how far it was synced, which depends on timing. The
	// log is therefore synced only once, at the end.
	Reproducible bool

	// Now is the clock of the ledger, in seconds since [bank.Epoch]. It provides the times of
	// entries and determines whether orders have expired. If it is nil, as in runs, an entry
	// has the time of its request, and times are not checked.
	Now func() float64

	// Unfinished makes Create mark the new ledger as an unfinished copy. Opening such a ledger
	// returns [ErrUnfinished] until [Finish], or its counterpart for another backend, is
	// called.
	Unfinished bool

	// Fatal receives the error of a failed write and must not return, because nothing can be
	// guaranteed afterwards. If it is nil, the error is printed to standard error in one
	// sentence, and the process exits with status 1.
	Fatal func(error)

	memTable uint64 // number of bytes of entries that Pebble may buffer in memory; 0 means Pebble's default
}

const (
	defaultBalancesEvery = 64
	reproducibleMemory   = 2 << 30 // Pebble flushes at half of this size
)

// These errors are returned when a ledger is created or opened.
var (
	ErrExists = errors.New("a ledger already exists there")
	ErrNone   = errors.New("found no ledger")

	// ErrOccupied means that the directory is not empty and contains no ledger.
	ErrOccupied = errors.New("the folder is not empty and has no ledger: name a new or empty folder")

	ErrDamaged = errors.New("ledger is damaged: audit it and restore it from a copy")
	ErrLocked  = errors.New("another process has the ledger open")
	ErrFormat  = errors.New("ledger has format 1; this version reads format 2: use the version that wrote it")
)

// A Journal is a [bank.Journal] stored in a [Backend]. It is not safe for concurrent use.
// After Append or Flush has returned an error, it accepts no more entries.
type Journal struct {
	name    string              // name of the ledger, for messages
	every   int                 // number of groups between two writes of the balances
	backend Backend             // nil after Close
	fetch   func(keys [][]byte) // method Fetch of the backend, or nil

	now      func() float64 // clock of the ledger, or nil
	owners   owners.Owners
	tree     tree
	time     float64
	group    group
	pending  pending
	since    int // number of groups since the balances were last written
	replayed int64
	err      error
}

var _ bank.Journal = (*Journal)(nil)

// Create creates a new ledger in dir and creates dir if necessary. It returns an error wrapping
// [ErrExists] if dir already contains a ledger, or [ErrOccupied] if it contains other files.
func Create(dir string, opts Options) (*Journal, error) {
	k, err := newBackend(dir, opts)
	if err != nil {
		return nil, fmt.Errorf("create ledger %s: %w", dir, plain(err))
	}
	return NewJournal(k, dir, opts), nil
}

// newBackend creates the directory of a new ledger.
func newBackend(dir string, opts Options) (Backend, error) {
	d := newDirectory(dir, opts)
	if err := d.create(); err != nil {
		d.Release()
		return nil, err
	}
	return d, nil
}

// NewJournal returns the journal of a new ledger in k, which must be empty. The name is used
// in messages.
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

// Append adds e to the group that [Journal.Flush] writes. If the group is full, Append writes
// it first.
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

// Flush makes all appended entries durable, unless the ledger is reproducible.
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

// held returns an error if this journal is no longer the writer of the ledger.
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

// Head returns the head of the log, including entries that are not flushed yet.
func (j *Journal) Head() Head { return j.tree.head() }

// Close flushes, writes the balances, and seals the ledger. Closing it again does nothing.
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

// release releases the ledger without sealing it, as if the process had died.
func (j *Journal) release() error {
	if j.backend == nil {
		return nil
	}
	return j.backend.Release()
}
