//go:build unix

package store

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// lockPlace locks the directory itself. Pebble locks a file in the directory. That file can be
// deleted, and one process can lock it twice through two paths.
func lockPlace(dir string) (io.Closer, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, ErrLocked
		}
		return nil, err
	}
	return f, nil
}
