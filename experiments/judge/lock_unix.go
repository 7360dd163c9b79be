//go:build unix

package judge

import (
	"os"
	"syscall"
)

// lock waits until no other process has locked the file, and then locks it until it is closed.
func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }
