package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strings"
	"syscall"

	"bourse/bank"
	"bourse/bank/pinned"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/mod/sumdb/tlog"
)

// A Reader reads a ledger without changing or locking it.
type Reader struct {
	values interface {
		Scan(from, to []byte, err *error) iter.Seq2[[]byte, []byte]
	}
	head  Head
	close func() error
	err   error
}

// NewReader returns a Reader of the ledger stored in v, which must reach at least head. The
// method Close of the Reader calls close.
func NewReader(v Values, head Head, close func() error) *Reader {
	return &Reader{values: v, head: head, close: close}
}

// OpenReader opens the ledger in dir for reading. The ledger may be in use; the Reader then
// reads the ledger as of the time of the call. OpenReader returns an error wrapping [ErrNone]
// if there is no ledger.
func OpenReader(dir string, opts Options) (*Reader, error) {
	opts = opts.defaults()
	r, err := openReader(dir, opts)
	if err != nil {
		return nil, fmt.Errorf("read ledger %s: %w", dir, plain(err))
	}
	return r, nil
}

func openReader(dir string, opts Options) (*Reader, error) {
	s, err := readSeal(opts.FS, dir)
	if err != nil {
		return nil, unopened(err)
	}
	if s == nil {
		return nil, ErrNone
	}
	if err := checkFinished(opts.FS, dir); err != nil && !opts.Unfinished {
		return nil, err
	}
	d := &acknowledged{directory: directory{opts: opts, dir: dir}}
	if s.acks { // read ACKS before the database, so that the database contains at least the entries before the acks
		if d.acked, err = readAcks(opts.FS, dir); err != nil {
			return nil, unopened(err)
		}
	}
	fsys, unpin := opts.FS, func() {}
	if len(s.files) == 0 { // another process may be writing the ledger
		p, err := pinned.Pin(fsys, dir)
		if err != nil {
			return nil, err
		}
		fsys, unpin = p, p.Close
	}
	d.db, err = pebble.Open(dir, &pebble.Options{
		FS:                 unlocked{fsys},
		ReadOnly:           true,
		FormatMajorVersion: format,
		Logger:             logger{"ledger " + dir, opts.Fatal},
		EventListener:      &pebble.EventListener{DataCorruption: func(pebble.DataCorruptionInfo) {}},
	})
	if err != nil {
		unpin()
		if now, e := readSeal(opts.FS, dir); len(s.files) > 0 && e == nil && now != nil && len(now.files) == 0 {
			return openReader(dir, opts) // another process has opened the ledger for writing since HEAD was read
		}
		return nil, unopened(err)
	}
	end := func() error {
		defer unpin()
		return d.db.Close()
	}
	if err := Sync(dir, opts); err != nil {
		return nil, errors.Join(err, end())
	}
	return NewReader(d, s.head, end), nil
}

// An acknowledged is a directory whose Scan also yields the acknowledged groups that are not
// in the database yet.
type acknowledged struct{ directory }

// Scan yields the keys and values in [from, to).
func (d *acknowledged) Scan(from, to []byte, err *error) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		for key, value := range scan(d.db, from, to, err) {
			if !yield(key, value) {
				return
			}
		}
		size, e := d.size()
		if *err == nil {
			*err = e
		}
		for _, a := range d.acked {
			key := seqKey(a.first)
			if *err != nil || bytes.Compare(key, from) < 0 || bytes.Compare(key, to) >= 0 || len(a.value) == 0 || a.first != size+1 {
				continue
			}
			if !yield(key, a.value) {
				return
			}
			size = a.head.Size
		}
	}
}

// Sync makes durable the part of a ledger that has been read so far. Another process may have
// written that part without syncing it yet.
func Sync(dir string, opts Options) error {
	fsys := opts.defaults().FS
	names, err := fsys.List(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".log") || name == acksFile {
			if err := syncLog(fsys, fsys.PathJoin(dir, name)); err != nil {
				return fmt.Errorf("sync %s: %w", dir, err)
			}
		}
	}
	return nil
}

// syncLog syncs a file. It ignores a missing file, whose contents are then in a table, and a
// file system that cannot be written.
func syncLog(fsys vfs.FS, name string) error {
	f, err := fsys.Open(name)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close())
	}
	for _, still := range []error{fs.ErrNotExist, syscall.EROFS, syscall.EINVAL} {
		if errors.Is(err, still) {
			return nil
		}
	}
	return err
}

// Entries yields every entry in order, with its hash. An entry is valid until the next
// iteration. If an entry was changed or entries are missing at the end, the iteration stops
// early. In that case, Err returns the reason.
func (r *Reader) Entries() iter.Seq2[*bank.Entry, tlog.Hash] {
	return func(yield func(*bank.Entry, tlog.Hash) bool) {
		g := groupReader{tree: newTree()}
		defer func() { r.err = g.err }()
		for key, value := range r.values.Scan([]byte{groupTable}, []byte{groupTable + 1}, &g.err) {
			for e := range g.entries(key, value) {
				if g.tree.size == r.head.Size && g.tree.head() != r.head {
					g.err = damaged(fmt.Errorf("entries to %d do not match %s", r.head.Size, headFile))
					return
				}
				if !yield(e, g.tree.last()) {
					return
				}
			}
			if g.err != nil {
				return
			}
		}
		if g.err == nil && g.tree.size < r.head.Size {
			g.err = damaged(fmt.Errorf("entries %d to %d are missing", g.tree.size+1, r.head.Size))
		}
	}
}

// Err returns the reason if Entries stopped early, or nil.
func (r *Reader) Err() error { return plain(r.err) }

// Close closes the ledger.
func (r *Reader) Close() error { return r.close() }

// An unlocked is a file system in which every lock succeeds.
type unlocked struct{ vfs.FS }

func (unlocked) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }
