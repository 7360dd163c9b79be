package store

import (
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A plainFS does not preallocate disk space. Pebble would preallocate as much space as the log
// may ever need.
type plainFS struct{ vfs.FS }

func (fs plainFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := fs.FS.Create(name, c)
	if err != nil {
		return nil, err
	}
	return plainFile{f}, nil
}

type plainFile struct{ vfs.File }

func (plainFile) Preallocate(int64, int64) error { return nil }

// A guardedFS is the file system through which a database is written. It reports a failed write
// in one sentence. Without a guardedFS, Pebble would retry indefinitely, continue partially, or
// print a stack trace. It also syncs the directory before Pebble creates a marker file, which
// names the current manifest. Without that sync, a power failure could preserve the marker but
// lose the manifest.
type guardedFS struct {
	vfs.FS
	fatal func(error)
}

// guard passes err to fatal unless err is nil, and returns err.
func (fs guardedFS) guard(err error) error {
	if err != nil {
		fs.fatal(err)
	}
	return err
}

func (fs guardedFS) file(f vfs.File, err error) (vfs.File, error) {
	if fs.guard(err) != nil {
		return nil, err
	}
	return guardedFile{f, fs}, nil
}

func (fs guardedFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if strings.HasPrefix(fs.PathBase(name), "marker.") {
		if err := syncDir(fs, fs.PathDir(name)); err != nil {
			return nil, err
		}
	}
	return fs.file(fs.FS.Create(name, c))
}

// ReuseForWrite creates a new file. If a file were reused, its old contents could not be
// distinguished from damage.
func (fs guardedFS) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := fs.guard(fs.FS.Remove(from)); err != nil {
		return nil, err
	}
	return fs.Create(to, c)
}

func (fs guardedFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return fs.file(fs.FS.OpenReadWrite(name, c, opts...))
}

func (fs guardedFS) OpenDir(name string) (vfs.File, error) { return fs.file(fs.FS.OpenDir(name)) }

func (fs guardedFS) Rename(from, to string) error { return fs.guard(fs.FS.Rename(from, to)) }

type guardedFile struct {
	vfs.File
	fs guardedFS
}

func (f guardedFile) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	return n, f.fs.guard(err)
}

func (f guardedFile) WriteAt(b []byte, at int64) (int, error) {
	n, err := f.File.WriteAt(b, at)
	return n, f.fs.guard(err)
}

func (f guardedFile) Sync() error     { return f.fs.guard(f.File.Sync()) }
func (f guardedFile) SyncData() error { return f.fs.guard(f.File.SyncData()) }

func (f guardedFile) SyncTo(n int64) (bool, error) {
	full, err := f.File.SyncTo(n)
	return full, f.fs.guard(err)
}
