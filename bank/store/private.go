package store

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"bourse/bank/pinned"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// These are the modes of the files of a new ledger. Only the owner has access, because the
// files reveal all balances.
const (
	privateDir  = 0o700
	privateFile = 0o600
)

// A privateFS is the real disk, on which new files have the given mode from their creation on.
// Changing the mode afterwards would be too late, because a process that has already opened a
// file can continue to read it.
type privateFS struct {
	vfs.FS
	mode fs.FileMode
}

// private returns the disk for the ledger in dir. New files are accessible only to their
// owner. If the ledger already exists, new files have the permissions of its file HEAD. If
// shown is set, as for the ledgers of runs, new files get the default mode.
func private(dir string, shown bool) vfs.FS {
	mode := fs.FileMode(privateFile)
	if info, err := os.Stat(vfs.Default.PathJoin(dir, headFile)); err == nil {
		mode = info.Mode().Perm() | privateFile
	} else if shown {
		return pinned.Disk()
	}
	return privateFS{pinned.Disk(), mode}
}

// make creates a new file and replaces any file of that name.
func (p privateFS) make(name string) error {
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, p.mode)
		if err == nil {
			return f.Close()
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
}

func (p privateFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := p.make(name); err != nil {
		return nil, err
	}
	return p.FS.OpenReadWrite(name, c)
}

// OpenReadWrite also creates the file if it does not exist.
func (p privateFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	if err := p.touch(name); err != nil {
		return nil, err
	}
	return p.FS.OpenReadWrite(name, c, opts...)
}

func (p privateFS) Lock(name string) (io.Closer, error) {
	if err := p.touch(name); err != nil {
		return nil, err
	}
	return p.FS.Lock(name)
}

// touch creates a file if it does not exist. It does not open an existing file, because closing
// the file would release a lock that this process holds on it.
func (p privateFS) touch(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, p.mode)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// ReuseForWrite renames the old file and keeps its mode.
func (p privateFS) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := p.Rename(from, to); err != nil {
		return nil, err
	}
	return p.FS.OpenReadWrite(to, c)
}
