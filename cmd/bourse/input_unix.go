//go:build unix

package main

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// inputWait is the time to wait for data in a pipe, in milliseconds.
const inputWait = 300

// hasInput reports whether r has data to read: r must be a non-empty file, or a pipe into
// which another program writes. A pipe that is open but silent, such as a pipe inherited from
// a service manager, has no data now but may have data later.
func hasInput(r io.Reader) (now, later bool) {
	f, ok := r.(*os.File)
	if !ok {
		return false, false
	}
	info, err := f.Stat()
	if err != nil {
		return false, false
	}
	if info.Mode().IsRegular() {
		at, err := f.Seek(0, io.SeekCurrent)
		return err != nil || at < info.Size(), false
	}
	if info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return false, false
	}
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, inputWait)
	return err == nil && n > 0 && fds[0].Revents&unix.POLLIN != 0, err == nil && n == 0
}
