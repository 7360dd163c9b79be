// Package whole writes files whole or not at all, and reads regular files and streams up to
// a bound, so that nobody who replaces a file, or answers from elsewhere, can block a reader
// or exhaust its memory.
//
// It is independent of their content.
package whole

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write writes a file, in place of what is there, so that whoever opens it finds what was
// there or all of data, also after a crash. That the name is durable, too, is for who
// needs it to see to: by syncing the folder.
func Write(name string, data []byte) error { return write(name, data, 0o644, os.Rename) }

// Private is [Write], of a file that only its owner reads, at no time another.
func Private(name string, data []byte) error { return write(name, data, 0o600, os.Rename) }

// Secret returns what is in a file that only its owner may read, which is made if there is
// none, of what fresh returns; who asks at once gets the same. It refuses a file that
// others may use.
func Secret(name string, fresh func() ([]byte, error)) ([]byte, error) {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		var data []byte
		if data, err = fresh(); err == nil {
			err = write(name, data, 0o600, os.Link)
		}
		if err == nil || errors.Is(err, fs.ErrExist) {
			info, err = os.Stat(name)
		}
	}
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, fmt.Errorf("%s: others may use it (mode %#o): chmod 600 %s, or make a new one", name, mode, name)
	}
	return Read(name, mostSecret)
}

const mostSecret = 64 << 10 // bytes of a key or certificate

// write writes a file beside the one called name, and puts it in its place.
func write(name string, data []byte, mode fs.FileMode, put func(from, to string) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".part-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err == nil {
		err = put(f.Name(), name)
	}
	os.Remove(f.Name()) // unless it is there by its new name alone
	return err
}
