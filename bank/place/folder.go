package place

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"bourse/bank/audit"
	"bourse/bank/store"
)

// A folder is a place in a directory, with a ledger in Pebble.
type folder string

func (f folder) String() string { return string(f) }

func (f folder) Base() (string, error) {
	path, err := filepath.Abs(string(f))
	return filepath.Base(path), err
}

func (f folder) Create(opts store.Options) (*store.Journal, error) {
	return store.Create(string(f), opts)
}

func (f folder) Writer(opts store.Options) (*store.Sequencer, error) {
	return store.OpenSequencer(string(f), opts)
}

func (f folder) Reader() (*store.Reader, error) { return store.OpenReader(string(f), store.Options{}) }

func (f folder) Audit(opts audit.Options) (*audit.Report, error) {
	if info, err := os.Stat(string(f)); err == nil && !info.IsDir() { // opening a pipe could block
		return nil, fmt.Errorf("audit %s: %w", f, audit.ErrNone)
	}
	return audit.Audit(string(f), opts)
}

func (f folder) Sync() error { return store.Sync(string(f), store.Options{}) }

func (f folder) part() (Place, error) {
	if info, err := os.Stat(string(f)); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("copy to %s: %w", f, fs.ErrExist)
	}
	names, err := os.ReadDir(string(f))
	if err == nil && len(names) > 0 {
		if err = store.Vacant(string(f), store.Options{}); err == nil {
			err = store.ErrOccupied
		}
		return nil, fmt.Errorf("copy to %s: %w", f, err)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return folder(filepath.Clean(string(f)) + ".part"), nil
}

func (f folder) rename(to Place) error {
	dir := to.String()
	if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) { // remove an empty directory
		return err
	}
	if err := os.Rename(string(f), dir); err != nil {
		return err
	}
	d, err := os.Open(filepath.Dir(filepath.Clean(dir)))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (f folder) finish() error  { return store.Finish(string(f), store.Options{}) }
func (f folder) discard() error { return store.Discard(string(f), store.Options{}) }

// within reports whether to is a folder inside f.
func (f folder) within(to Place) bool {
	if _, ok := to.(folder); !ok {
		return false
	}
	from, err := filepath.Abs(string(f))
	in, err2 := filepath.Abs(to.String())
	rest, err3 := filepath.Rel(from, in)
	return errors.Join(err, err2, err3) == nil && filepath.IsLocal(rest)
}
