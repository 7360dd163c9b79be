package store

import (
	"errors"
	"fmt"
	"io"

	"bourse/bank"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// GroupSize is the most entries that are written as one value.
const GroupSize = 8190

// Format is the version of Pebble's files that is written: the newest, which
// checksums the most.
const Format = pebble.FormatValueSeparation

// Tables, the first byte of a key.
const (
	groupTable    = 'G'
	balanceTable  = 'B'
	contractTable = 'C'
	requestTable  = 'I'
	standingTable = 'S'
)

// Options say how a ledger is kept. The zero value suits a live bank on disk.
type Options struct {
	FS vfs.FS // nil means the disk

	// BalancesEvery is the number of groups between two writings of the
	// balances, and so the most that opening replays; 0 means 64.
	BalancesEvery int

	// Reproducible makes the same entries, flushed at the same places, the same
	// bytes on disk, and durable when the ledger is closed. Pebble tells the time
	// in the tables that it flushes, so everything is left in its write-ahead log,
	// and in memory while the ledger is open: for runs of up to a gigabyte of
	// entries. It notes there, too, how far it has synced, which depends on the
	// moment, so it syncs once, at the end.
	Reproducible bool

	// Fatal is told of a write that failed, after which nothing more can be
	// promised, and does not return; nil means one sentence on standard error
	// and exit status 1.
	Fatal func(error)
}

const (
	defaultBalancesEvery = 64
	reproducibleMemory   = 2 << 30 // Pebble flushes at half of it
)

// What opening a ledger may find.
var (
	ErrExists  = errors.New("a ledger is there already")
	ErrNone    = errors.New("no ledger is there")
	ErrDamaged = errors.New("ledger is damaged; audit it, and restore it from a copy")
	ErrLocked  = errors.New("another process has the ledger open")
)

// A Journal is a [bank.Journal] in a directory. It is not safe for concurrent
// use. After an error of Append or Flush it takes nothing more.
type Journal struct {
	opts  Options
	dir   string
	lock  *pebble.Lock
	place io.Closer // the lock of the directory itself
	db    *pebble.DB

	tree     tree
	time     float64
	group    group
	standing standing
	since    int // groups since balances were written
	replayed int64
	err      error
}

var _ bank.Journal = (*Journal)(nil)

// Create makes a new ledger in dir, which is made if need be. It returns an error
// wrapping [ErrExists] if dir is not empty.
func Create(dir string, opts Options) (*Journal, error) {
	j := newJournal(dir, opts)
	if err := j.create(); err != nil {
		j.release()
		return nil, fmt.Errorf("create ledger %s: %w", dir, plain(err))
	}
	return j, nil
}

func newJournal(dir string, opts Options) *Journal {
	j := &Journal{opts: opts.defaults(), dir: dir, tree: newTree()}
	j.standing.init()
	return j
}

func (j *Journal) create() error {
	fsys := j.opts.FS
	if err := fsys.MkdirAll(j.dir, 0o777); err != nil {
		return err
	}
	names, err := fsys.List(j.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name != lockFile && name != HeadFile+".tmp" { // left by a making cut short
			return ErrExists
		}
	}
	if err := j.lockDir(); err != nil {
		return err
	}
	s, err := readSeal(fsys, j.dir)
	if err != nil {
		return err
	}
	if s != nil {
		return ErrExists
	}
	return j.openDB(j.tree.head())
}

// lockDir keeps others out.
func (j *Journal) lockDir() (err error) {
	if j.opts.FS == vfs.Default {
		if j.place, err = lockPlace(j.dir); err != nil {
			return err
		}
	}
	j.lock, err = pebble.LockDirectory(j.dir, j.opts.FS)
	return err
}

// openDB opens the database once HEAD says that it is open.
func (j *Journal) openDB(head Head) (err error) {
	if err := (&seal{head: head}).write(j.opts.FS, j.dir); err != nil {
		return err
	}
	log := logger{j.dir, j.opts.Fatal}
	opts := &pebble.Options{
		FS:                 guardedFS{j.opts.FS, log.died},
		FormatMajorVersion: Format,
		Lock:               j.lock,
		Logger:             log,
		EventListener:      &pebble.EventListener{BackgroundError: log.died}, // else Pebble tries for ever
		DisableTableStats:  true,
	}
	opts.Experimental.FileCacheShards = 1 // else the number of cores, which Pebble writes down
	if j.opts.Reproducible {
		opts.MemTableSize = reproducibleMemory
		opts.FS = plainFS{opts.FS}
	}
	j.db, err = pebble.Open(j.dir, opts)
	return err
}

// release closes what is open, in order.
func (j *Journal) release() error {
	var err error
	if j.db != nil {
		err = j.db.Close()
	}
	if j.lock != nil {
		err = errors.Join(err, j.lock.Close())
	}
	if j.place != nil {
		err = errors.Join(err, j.place.Close())
	}
	j.db, j.lock, j.place = nil, nil, nil
	return err
}

func (o Options) defaults() Options {
	if o.FS == nil {
		o.FS = vfs.Default
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
	j.group.add(e, &j.tree)
	j.standing.add(e, j.tree.last)
	j.time = e.Time
	return nil
}

// Flush makes durable what was appended, unless the ledger is reproducible.
func (j *Journal) Flush() error { return j.flush(false) }

func (j *Journal) flush(closing bool) error {
	if j.err != nil || j.group.count == 0 && !(closing && j.since > 0) {
		return j.err
	}
	if err := j.write(closing); err != nil {
		j.err = fmt.Errorf("ledger %s: entries after %d: %w", j.dir, j.tree.size-int64(j.group.count), err)
	}
	return j.err
}

func (j *Journal) write(closing bool) error {
	batch := j.db.NewBatch()
	defer batch.Close()
	if j.group.count > 0 {
		first := j.tree.size - int64(j.group.count) + 1
		if err := batch.Set(seqKey(first), j.group.encode(&j.tree), nil); err != nil {
			return err
		}
		j.since++
	}
	balances := closing || j.since >= j.opts.BalancesEvery
	if balances {
		if err := j.standing.write(batch, j); err != nil {
			return err
		}
	}
	sync := pebble.Sync
	if j.opts.Reproducible && !closing {
		sync = pebble.NoSync
	}
	if err := batch.Commit(sync); err != nil {
		return err
	}
	j.group.clear()
	if balances {
		j.standing.init()
		j.since = 0
	}
	if closing || !balances || j.opts.Reproducible {
		return nil
	}
	return (&seal{head: j.tree.head()}).write(j.opts.FS, j.dir)
}

// Head returns the head of the log, entries not yet flushed included.
func (j *Journal) Head() Head { return j.tree.head() }

// Replayed returns how many entries opening had to replay.
func (j *Journal) Replayed() int64 { return j.replayed }

// Close flushes, writes the balances, and seals the ledger. To close it again does
// nothing.
func (j *Journal) Close() error {
	if j.db == nil {
		return nil
	}
	err := errors.Join(j.flush(true), j.db.Close())
	j.db = nil
	if err == nil {
		err = j.seal()
	}
	j.err = errors.New("ledger is closed")
	if err = errors.Join(err, j.release()); err != nil {
		return fmt.Errorf("close ledger %s: %w", j.dir, plain(err))
	}
	return nil
}

func (j *Journal) seal() error {
	// Files that are gone must stay gone, or HEAD would miss them after a power cut.
	if err := syncDir(j.opts.FS, j.dir); err != nil {
		return err
	}
	files, err := sealFiles(j.opts.FS, j.dir)
	if err != nil {
		return err
	}
	return (&seal{j.tree.head(), files}).write(j.opts.FS, j.dir)
}
