//go:build linux

package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"bourse/hosts"
	"bourse/hosts/linux"
	"bourse/hosts/remote"
)

// or returns l with what it leaves open taken from o.
func or(l, o remote.Limits) remote.Limits {
	if l.Memory == 0 {
		l.Memory = o.Memory
	}
	if l.Processes == 0 {
		l.Processes = o.Processes
	}
	if l.Files == 0 {
		l.Files = o.Files
	}
	if l.Disk == 0 {
		l.Disk = o.Disk
	}
	if l.Log == 0 {
		l.Log = o.Log
	}
	return l
}

// A record is task.json.
type record struct {
	Name    string
	Boot    string     // of the machine
	Began   float64    // instant at which the folder was made
	Account string     `json:",omitempty"` // that the job is of
	Job     remote.Job // with limits that are not open
	User    int        // its own, 0 that of the agent
	Root    string     // the agent's folder
	Network bool
	Kind    string // of the kernel
	Kernel  linux.Config
}

// Orders are what a minder is to do.
type orders struct {
	Until  float64 // instant of its deadline, 0 none
	Warn   float64 // seconds before Until at which it is sent SIGTERM
	Paused bool
	KillAt float64 // instant; it is sent SIGTERM at once. 0 is never
}

// stands reports whether the task is to stand, with a lease until that instant: also what is
// to be killed by now does.
func (o *orders) stands(now, until float64) bool {
	return o.Paused || now >= until || o.KillAt > 0 && now >= o.KillAt
}

// An exit is exit.json.
type exit struct {
	Why         hosts.End
	Status      int    // of its program
	Signal      string // that ended it, if one did
	Fault       string // what went wrong besides the program
	OutOfMemory bool
	Used        float64  // processor-seconds
	Waited      float64  `json:",omitempty"` // seconds in which it could run and did not, as far as is known
	Span        float64  // seconds since it began
	Stored      int64    `json:",omitempty"` // bytes that it left in its folder and printed
	Lacks       []string // what of isolation the machine does not offer
}

// put writes v to path, so that a reader finds what was there before or all of it.
func put(path string, v any, sync bool) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return replace(path, text, 0o600, sync)
}

// replace writes a file, so that a reader finds what was there before or all of it.
func replace(path string, text []byte, mode os.FileMode, sync bool) error {
	beside := filepath.Join(filepath.Dir(path), "."+filepath.Base(path))
	f, err := os.OpenFile(beside, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil && sync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil && sync {
		err = syncFolder(filepath.Dir(path))
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// get reads path into v, and reports whether it is there.
func get(path string, v any) (bool, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	return true, nil
}

// A version is that of a file which is replaced as a whole, as it was seen last.
type version struct{ info os.FileInfo }

// changed reports whether the file is another than last time.
func (v *version) changed(path string) bool {
	before := v.info
	v.info, _ = os.Stat(path) // nil if there is none
	if before == nil || v.info == nil {
		return before != v.info
	}
	return !os.SameFile(before, v.info) || !before.ModTime().Equal(v.info.ModTime())
}

// lockFolder takes the lock of a task's folder, which its minder inherits. A nil file
// without an error is a lock that another holds.
func lockFolder(folder string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
		return f, nil
	}
	f.Close()
	if err == unix.EWOULDBLOCK {
		return nil, nil
	}
	return nil, err
}

// boottime returns the seconds since the machine was started.
func boottime() float64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic("agent: CLOCK_BOOTTIME: " + err.Error())
	}
	return float64(t.Sec) + float64(t.Nsec)/1e9
}

// bootID tells this start of the machine from others.
func bootID() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text)), err
}
