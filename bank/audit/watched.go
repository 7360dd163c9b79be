package audit

import (
	"errors"
	"iter"
	"slices"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// An unread holds the first error due to which data could not be read: a missing permission,
// too many open files, or a disk or server that does not respond. The state of the ledger is
// then unknown, so the audit must not report damage.
type unread chan error

func newUnread() unread { return make(unread, 1) }

// see stores err if it is the first such error.
func (u unread) see(err error) {
	select {
	case u <- err:
	default:
	}
}

// seeSystem stores an error of the operating system. It does not store an error about a missing
// file or a file of another kind, because such an error means that the ledger was damaged.
func (u unread) seeSystem(err error) error {
	var errno syscall.Errno
	harm := []syscall.Errno{syscall.ENOENT, syscall.ENOTDIR, syscall.EISDIR, syscall.EINVAL}
	if errors.As(err, &errno) && !slices.Contains(harm, errno) {
		u.see(err)
	}
	return err
}

// err returns the first error, or nil.
func (u unread) err() error {
	select {
	case err := <-u:
		return err
	default:
		return nil
	}
}

// A watchedFS is a file system that records read errors in unread.
type watchedFS struct {
	vfs.FS
	unread
}

func (fs watchedFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := fs.FS.Open(name, opts...)
	if fs.seeSystem(err) != nil {
		return nil, err
	}
	return watchedFile{f, fs.unread}, nil
}

func (fs watchedFS) OpenDir(name string) (vfs.File, error) {
	f, err := fs.FS.OpenDir(name)
	return f, fs.seeSystem(err)
}

func (fs watchedFS) List(dir string) ([]string, error) {
	names, err := fs.FS.List(dir)
	return names, fs.seeSystem(err)
}

func (fs watchedFS) Stat(name string) (vfs.FileInfo, error) {
	info, err := fs.FS.Stat(name)
	return info, fs.seeSystem(err)
}

type watchedFile struct {
	vfs.File
	unread
}

func (f watchedFile) Read(b []byte) (int, error) {
	n, err := f.File.Read(b)
	return n, f.seeSystem(err)
}

func (f watchedFile) ReadAt(b []byte, at int64) (int, error) {
	n, err := f.File.ReadAt(b, at)
	return n, f.seeSystem(err)
}

// A watchedValues is a source of values that records read errors in unread.
type watchedValues struct {
	Values
	unread
}

func (v watchedValues) Get(key []byte) ([]byte, error) {
	value, err := v.Values.Get(key)
	if err != nil {
		v.see(err)
	}
	return value, err
}

func (v watchedValues) Scan(from, to []byte, err *error) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		v.Values.Scan(from, to, err)(yield)
		if *err != nil {
			v.see(*err)
		}
	}
}

// Fetch passes the keys to v.Values if it supports prefetching.
func (v watchedValues) Fetch(keys [][]byte) {
	if f, ok := v.Values.(fetcher); ok {
		f.Fetch(keys)
	}
}
