package store

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// unfinishedFile is the name of the file that marks the directory of an incomplete copy. It is
// created first and removed last.
const unfinishedFile = "UNFINISHED"

// ErrUnfinished means that the ledger is an incomplete copy: the copying is in progress or was
// interrupted.
var ErrUnfinished = errors.New("an unfinished copy, not a bank: if no copy is running, remove it, then copy again")

const unfinishedText = "This is a bank's copy that 'bourse bank copy' has not finished. If that was cut short, remove this folder.\n"

// markUnfinished durably marks the ledger in dir as unfinished.
func markUnfinished(fsys vfs.FS, dir string) error {
	if err := writeFile(fsys, fsys.PathJoin(dir, unfinishedFile), []byte(unfinishedText)); err != nil {
		return err
	}
	return syncDir(fsys, dir)
}

// checkFinished returns [ErrUnfinished] if the ledger in dir is marked as unfinished.
func checkFinished(fsys vfs.FS, dir string) error {
	_, err := fsys.Stat(fsys.PathJoin(dir, unfinishedFile))
	if err == nil {
		return ErrUnfinished
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return unopened(err)
}

// Finish removes the mark of a closed ledger that was created with [Options].Unfinished, so
// that it can be opened.
func Finish(dir string, opts Options) error {
	fsys := opts.defaults().FS
	err := fsys.Remove(fsys.PathJoin(dir, unfinishedFile))
	if err == nil {
		err = syncDir(fsys, dir)
	}
	if err != nil {
		return fmt.Errorf("finish ledger %s: %w", dir, plain(err))
	}
	return nil
}

// Discard removes a ledger that was created with [Options].Unfinished. It removes HEAD first,
// so that no ledger remains if the removal is interrupted.
func Discard(dir string, opts Options) error {
	fsys := opts.defaults().FS
	if err := fsys.Remove(fsys.PathJoin(dir, headFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return plain(err)
	}
	return plain(fsys.RemoveAll(dir))
}
