package store

import "github.com/cockroachdb/pebble/v2/vfs"

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
