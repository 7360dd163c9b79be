package pinned

import (
	"bourse/bank/whole"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Disk returns the file system of this machine, restricted to regular files. If a ledger's file
// were replaced by a pipe or a device, reading it could block or never end. Any two results of
// Disk are equal.
func Disk() vfs.FS { return disk{vfs.Default} }

type disk struct{ vfs.FS }

// Open implements [vfs.FS].
func (d disk) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	info, err := d.FS.Stat(name)
	if err == nil {
		err = whole.Regular(name, info)
	}
	if err != nil {
		return nil, err
	}
	return d.FS.Open(name, opts...)
}
