//go:build unix

package judge

import (
	"os"
	"syscall"
)

// lock waits until this process alone has the file locked. It is unlocked when it is closed.
func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }
