package store

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// unfinishedFile is the name of the file that stands in the directory of a copy until
// it is whole. It is made first and removed last.
const unfinishedFile = "UNFINISHED"

// ErrUnfinished means that a ledger is a copy that was cut short, or is being made.
var ErrUnfinished = errors.New("a copy that is not finished, and no bank: if nobody is making it, remove it, then copy again")

const unfinishedText = "This is a bank's copy that 'bourse bank copy' has not finished. If that was cut short, remove this folder.\n"

// markUnfinished says durably that what will be in dir is not finished.
func markUnfinished(fsys vfs.FS, dir string) error {
	if err := writeFile(fsys, fsys.PathJoin(dir, unfinishedFile), []byte(unfinishedText)); err != nil {
		return err
	}
	return syncDir(fsys, dir)
}

// checkFinished returns [ErrUnfinished] if the ledger in dir is not.
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

// Finish makes a ledger of one that was created with [Options].Unfinished, and closed.
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

// Discard removes a ledger that was created with [Options].Unfinished. Cut short it
// leaves none: what makes it one goes first.
func Discard(dir string, opts Options) error {
	fsys := opts.defaults().FS
	if err := fsys.Remove(fsys.PathJoin(dir, headFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return plain(err)
	}
	return plain(fsys.RemoveAll(dir))
}
