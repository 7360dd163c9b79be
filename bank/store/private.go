package store

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"bourse/bank/pinned"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// What others may do with a new ledger: nothing. Whoever reads its files knows all
// balances.
const (
	privateDir  = 0o700
	privateFile = 0o600
)

// A privateFS is the disk, where files are made with a mode: from the beginning, for
// what was opened once can be read for ever.
type privateFS struct {
	vfs.FS
	mode fs.FileMode
}

// private returns the disk for the ledger in dir, whose new files are for its owner
// alone, or, if it is there already, for whom its keeper let read HEAD. Of a ledger that
// is made to be shown, as those of runs are, files have the mode that all files have.
func private(dir string, shown bool) vfs.FS {
	mode := fs.FileMode(privateFile)
	if info, err := os.Stat(vfs.Default.PathJoin(dir, headFile)); err == nil {
		mode = info.Mode().Perm() | privateFile
	} else if shown {
		return pinned.Disk()
	}
	return privateFS{pinned.Disk(), mode}
}

// make makes a new file, and removes what has its name.
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

// OpenReadWrite also makes a file that is not there.
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

// touch makes a file unless it is there. One that is there is not opened: to close it
// would undo a lock that this process has on it.
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

// ReuseForWrite makes a new file of an old one, whose mode it keeps.
func (p privateFS) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := p.Rename(from, to); err != nil {
		return nil, err
	}
	return p.FS.OpenReadWrite(to, c)
}
