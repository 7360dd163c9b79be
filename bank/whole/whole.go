// Package whole writes files atomically, and reads regular files and streams up to a size
// limit. A program that replaces a file or sends a stream therefore cannot block a reader or
// exhaust its memory.
//
// The package is independent of the content of files.
package whole

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write writes a file and replaces an existing one atomically. A reader finds either the old
// content or all of data, even after a crash. To make the new name durable as well, the caller
// must sync the directory.
func Write(name string, data []byte) error { return write(name, data, 0o644, os.Rename) }

// Private is like [Write], but only the owner can read the file, at any time.
func Private(name string, data []byte) error { return write(name, data, 0o600, os.Rename) }

// Secret returns the content of a file that only its owner may read. If there is no file, it
// creates one with the content that fresh returns. Concurrent callers receive the same content.
// Secret rejects a file to which other users have access.
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
		return nil, fmt.Errorf("%s: readable by other users (mode %#o): run chmod 600 %s, or make a new one", name, mode, name)
	}
	return Read(name, mostSecret)
}

// Existing returns the content of a file as [Secret] does, but does not create a file.
func Existing(name string) ([]byte, error) {
	return Secret(name, func() ([]byte, error) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	})
}

const mostSecret = 64 << 10 // maximum size of a key or certificate, in bytes

// write writes data to a temporary file in the same directory, and passes its name and the
// final name to put.
func write(name string, data []byte, mode fs.FileMode, put func(from, to string) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".part-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err == nil {
		err = put(f.Name(), name)
	}
	os.Remove(f.Name()) // put may have failed or made a link, so remove the temporary name
	return err
}
