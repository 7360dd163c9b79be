package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"syscall"

	"bourse/bank/pinned"

	"github.com/cockroachdb/pebble/v2"
)

// A directory is a [Backend] on disk: a Pebble database with the files HEAD and ACKS.
type directory struct {
	opts  Options
	dir   string
	disk  bool // whether opts.FS is the real disk
	lock  *pebble.Lock
	place io.Closer // lock on the directory itself
	db    *pebble.DB

	hasAcks bool         // whether the file HEAD has an acks line
	acked   []ack        // acks of the last era that were found on opening
	acks    *acks        // file of acks, open for writing; nil if the ledger is reproducible
	kept    []sealedFile // finished files at the time the database was opened

	fetched map[string][]byte // prefetched values by key; nil if there is no value
}

var _ Backend = (*directory)(nil)

// cacheSize is the size of Pebble's block cache in bytes. With this size, recently used ids
// need not be read again for each group.
const cacheSize = 64 << 20

func newDirectory(dir string, opts Options) *directory {
	d := &directory{opts: opts.defaults(), dir: dir}
	if d.disk = d.opts.FS == pinned.Disk(); d.disk {
		d.opts.FS = private(dir, opts.Reproducible)
	}
	return d
}

// create creates the directory for an empty ledger.
func (d *directory) create() error {
	if err := d.prepare(); err != nil {
		return err
	}
	if err := d.openDB(NoEntries()); err != nil {
		return err
	}
	return d.tidy(NoEntries())
}

// prepare creates the directory if necessary, locks it, and checks that it contains no ledger.
func (d *directory) prepare() error {
	fsys := d.opts.FS
	mode := fs.FileMode(privateDir)
	if d.opts.Reproducible {
		mode = 0o777
	}
	if err := fsys.MkdirAll(d.dir, mode); err != nil {
		return err
	}
	names, err := fsys.List(d.dir)
	if err != nil {
		return err
	}
	if err := vacant(names); err != nil {
		return err
	}
	if err := d.lockDir(); err != nil {
		return err
	}
	s, err := readSeal(fsys, d.dir)
	if err != nil {
		return err
	}
	if s != nil {
		return ErrExists
	}
	if d.opts.Unfinished {
		if err := markUnfinished(fsys, d.dir); err != nil {
			return err
		}
	}
	return d.makeAcks()
}

// vacant returns an error if a ledger cannot be created in a directory with files of these
// names.
func vacant(names []string) (err error) {
	if slices.Contains(names, unfinishedFile) {
		return ErrUnfinished
	}
	for _, name := range names {
		kind, _ := numbered(name)
		switch {
		case name == lockFile || name == acksFile || name == headFile+".tmp": // file left by an interrupted creation
		case name == headFile || kind != "" || strings.HasSuffix(name, sstable) || strings.HasPrefix(name, "marker."):
			return ErrExists
		default:
			err = ErrOccupied
		}
	}
	return err
}

// Vacant returns an error wrapping [ErrExists], [ErrUnfinished] or [ErrOccupied] if the files
// in dir prevent creating a ledger there.
func Vacant(dir string, opts Options) error {
	names, err := opts.defaults().FS.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = vacant(names)
	}
	return plain(err)
}

// makeAcks creates the file ACKS if the ledger should have one but does not.
func (d *directory) makeAcks() (err error) {
	if d.hasAcks || d.opts.Reproducible {
		return nil
	}
	if err = createAcks(d.opts.FS, d.dir); err == nil {
		d.hasAcks = true
		d.acked, err = readAcks(d.opts.FS, d.dir)
	}
	return err
}

// open opens the directory of an existing ledger, and returns the head that the ledger must
// reach.
func (d *directory) open() (Head, error) {
	fsys := d.opts.FS
	s, err := readSeal(fsys, d.dir)
	if err != nil {
		return Head{}, unopened(err)
	}
	if s == nil {
		return Head{}, ErrNone
	}
	if err := checkFinished(fsys, d.dir); err != nil {
		return Head{}, err
	}
	if err := d.lockDir(); err != nil {
		return Head{}, err
	}
	// Another process may have written before the lock was acquired.
	if s, err = readSeal(fsys, d.dir); err != nil || s == nil {
		return Head{}, damaged(err)
	}
	if len(s.files) > 0 {
		if err := s.check(fsys, d.dir); err != nil {
			return Head{}, damaged(err)
		}
	}
	if d.hasAcks = s.acks; s.acks {
		if d.acked, err = readAcks(fsys, d.dir); err != nil {
			return Head{}, unopened(err)
		}
	}
	if err := d.makeAcks(); err != nil {
		return Head{}, err
	}
	if err := d.openDB(s.head); err != nil {
		return Head{}, err
	}
	if err := d.restore(); err != nil {
		return Head{}, err
	}
	return s.head, d.tidy(s.head)
}

// tidy lists the finished files in HEAD and discards old acks.
func (d *directory) tidy(head Head) (err error) {
	if d.kept, err = keptFiles(d.opts.FS, d.dir); err != nil {
		return err
	}
	acked := d.acked
	d.acked = nil
	if err := d.unsealed(head).write(d.opts.FS, d.dir); err != nil || d.acks == nil {
		return err
	}
	return d.acks.renew(acked[len(acked)-1].head)
}

// unsealed returns the content of HEAD for an open ledger.
func (d *directory) unsealed(head Head) *seal {
	return &seal{head: head, acks: d.hasAcks, kept: d.kept}
}

// restore writes acknowledged groups that are missing from the database. It returns an error
// if a group cannot be restored.
func (d *directory) restore() error {
	size, err := d.size()
	if err != nil {
		return damaged(err)
	}
	for _, a := range d.acked {
		if size >= a.head.Size {
			continue
		}
		if len(a.value) == 0 || a.first != size+1 {
			return damaged(fmt.Errorf("entries %d to %d are missing", size+1, a.head.Size))
		}
		if err := d.db.Set(seqKey(a.first), a.value, pebble.Sync); err != nil {
			return err
		}
		size = a.head.Size
	}
	return nil
}

// size returns the number of the last entry in the database.
func (d *directory) size() (size int64, err error) {
	it, err := d.db.NewIter(&pebble.IterOptions{LowerBound: []byte{groupTable}, UpperBound: []byte{groupTable + 1}})
	if err != nil {
		return 0, err
	}
	if it.Last() {
		value, e := it.ValueAndErr()
		first, _ := keySeq(it.Key())
		size, err = first+groupCount(value)-1, e
	}
	return size, errors.Join(err, it.Close())
}

// lockDir locks the directory against other processes.
func (d *directory) lockDir() (err error) {
	if d.disk {
		if d.place, err = lockPlace(d.dir); err != nil {
			return err
		}
	}
	d.lock, err = pebble.LockDirectory(d.dir, d.opts.FS)
	return err
}

// openDB opens the database after marking it as open in HEAD.
func (d *directory) openDB(head Head) (err error) {
	if err := d.unsealed(head).write(d.opts.FS, d.dir); err != nil {
		return err
	}
	opts := d.options()
	opts.Lock = d.lock
	opts.ErrorIfNotExists = head.Size > 0 || len(d.acked) > 0 && d.acked[0].head.Size > 0
	if d.db, err = pebble.Open(d.dir, opts); err != nil {
		return unopened(err)
	}
	if !d.opts.Reproducible {
		d.acks, err = openAcks(d.guarded(), d.dir, d.acked[0].era)
	}
	return err
}

// options returns the options of the database.
func (d *directory) options() *pebble.Options {
	log := d.logger()
	opts := &pebble.Options{
		FS:                 d.guarded(),
		FormatMajorVersion: format,
		Logger:             log,
		EventListener:      &pebble.EventListener{BackgroundError: log.died}, // without this listener, Pebble would retry indefinitely
		DisableTableStats:  true,
		CacheSize:          cacheSize,
		MemTableSize:       d.opts.memTable,
	}
	opts.Experimental.FileCacheShards = 1 // a fixed number, because Pebble would use the number of cores and store it in OPTIONS
	if d.opts.Reproducible {
		opts.MemTableSize = reproducibleMemory
		opts.FS = plainFS{opts.FS}
	}
	return opts
}

func (d *directory) logger() logger { return logger{"ledger " + d.dir, d.opts.Fatal} }

// guarded returns the file system through which the directory is written.
func (d *directory) guarded() guardedFS { return guardedFS{d.opts.FS, d.logger().died} }

// unopened explains why a ledger could not be opened. An error of the operating system is
// returned unchanged, and any other error means damage.
func unopened(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return err
	}
	return damaged(err)
}

// Get returns the value at key, or nil if there is none.
func (d *directory) Get(key []byte) ([]byte, error) {
	if value, ok := d.fetched[string(key)]; ok {
		return value, nil
	}
	return get(d.db, key)
}

// Scan yields the keys and values in [from, to).
func (d *directory) Scan(from, to []byte, err *error) iter.Seq2[[]byte, []byte] {
	return scan(d.db, from, to, err)
}

// Batch starts a batch of changes.
func (d *directory) Batch() Batch {
	return &directoryBatch{Batch: d.db.NewBatch(pebble.WithMaxRetainedSizeBytes(retained)), d: d}
}

// retained is the maximum size, in bytes, of a batch whose memory is reused. A full group
// needs a few megabytes.
const retained = 16 << 20

// A directoryBatch is a batch that changes the database and, when committed, ACKS and HEAD.
type directoryBatch struct {
	*pebble.Batch
	d   *directory
	ack ack // ack of the group, if the batch has one
}

func (b *directoryBatch) Set(key, value []byte) error {
	if key[0] == groupTable {
		b.ack.first, _ = keySeq(key)
		b.ack.value = value
	}
	return b.Batch.Set(key, value, nil)
}

func (b *directoryBatch) Delete(key []byte) error { return b.Batch.Delete(key, nil) }

func (b *directoryBatch) Commit(head Head, w Write) error {
	d := b.d
	d.fetched = nil
	sync := pebble.Sync
	if d.opts.Reproducible && w != WriteLast {
		sync = pebble.NoSync
	}
	acks := d.acks != nil && b.ack.value != nil
	if acks && w == WriteGroup && d.acks.holds(len(b.ack.value)) {
		sync = pebble.NoSync
	} else {
		b.ack.value = nil
	}
	if err := b.Batch.Commit(sync); err != nil {
		return err
	}
	if acks {
		b.ack.head = head
		if err := d.acks.write(b.ack); err != nil {
			return err
		}
	}
	if w != WriteBalances || d.opts.Reproducible {
		return nil
	}
	return d.unsealed(head).write(d.opts.FS, d.dir)
}

// Close closes the database and seals its files.
func (d *directory) Close(head Head) error {
	if d.db == nil {
		return nil
	}
	err := d.db.Close()
	d.db = nil
	if err == nil {
		err = d.seal(head)
	}
	return errors.Join(err, d.Release())
}

func (d *directory) seal(head Head) error {
	// Make removals durable first. Without this sync, a power failure could restore files that
	// HEAD does not list.
	if err := syncDir(d.opts.FS, d.dir); err != nil {
		return err
	}
	files, err := sealFiles(d.opts.FS, d.dir)
	if err != nil {
		return err
	}
	return (&seal{head: head, acks: d.hasAcks, files: files}).write(d.opts.FS, d.dir)
}

// Release closes the database, the ACKS file and the locks, in this order.
func (d *directory) Release() error {
	var err error
	if d.db != nil {
		err = d.db.Close()
	}
	if d.acks != nil {
		err = errors.Join(err, d.acks.close())
	}
	if d.lock != nil {
		err = errors.Join(err, d.lock.Close())
	}
	if d.place != nil {
		err = errors.Join(err, d.place.Close())
	}
	d.db, d.acks, d.lock, d.place = nil, nil, nil, nil
	return err
}

// get returns the value at key, or nil if there is none.
func get(db pebble.Reader, key []byte) ([]byte, error) {
	v, closer, err := db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	return slices.Clone(v), nil
}

// scan yields the keys and values in [from, to), valid until the next iteration. scan stores an
// error in err.
func scan(db pebble.Reader, from, to []byte, err *error) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		it, e := db.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: to})
		if e != nil {
			*err = e
			return
		}
		for ok := it.First(); ok; ok = it.Next() {
			value, e := it.ValueAndErr()
			if e != nil {
				*err = e
				break
			}
			if !yield(it.Key(), value) {
				break
			}
		}
		if e := it.Close(); e != nil && *err == nil {
			*err = e
		}
	}
}
