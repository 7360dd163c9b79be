package store

import (
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A plainFS does not set room aside: Pebble would ask for as much as the log may
// ever need.
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

// A guardedFS is what a database is written through. Where a write fails Pebble
// would try for ever, go on in parts, or end in a trace: here it ends in a
// sentence. It syncs the directory before the file that says which manifest
// counts, or a power cut could keep that file and lose the manifest.
type guardedFS struct {
	vfs.FS
	fatal func(error)
}

// guard passes err on, after having told of it.
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

// ReuseForWrite makes a new file: in one used again, what it held before could not be
// told from harm.
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
