//go:build unix

package results

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// lockDir locks a directory until the returned file is closed or the process ends. The error
// is [ErrBusy] if another process holds the lock.
func lockDir(dir string) (*os.File, error) { return flock(dir, syscall.LOCK_EX) }

// shareDir takes a shared lock. It excludes only [lockDir].
func shareDir(dir string) (*os.File, error) { return flock(dir, syscall.LOCK_SH) }

func flock(dir string, how int) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, ErrBusy
		}
		return nil, &os.PathError{Op: "lock", Path: dir, Err: err}
	}
	return f, nil
}

// mounted reports whether a file system is mounted at dir, because dir then cannot be
// renamed.
func mounted(dir string) bool {
	here, err := os.Stat(dir)
	above, wrong := os.Stat(filepath.Dir(dir))
	if err != nil || wrong != nil {
		return false
	}
	a, ok := here.Sys().(*syscall.Stat_t)
	b, also := above.Sys().(*syscall.Stat_t)
	return ok && also && a.Dev != b.Dev
}
