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

// or returns l with each unset limit replaced by the limit in o.
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

// A record is the content of task.json.
type record struct {
	Name    string
	Boot    string     // boot of the machine
	Began   float64    // time at which the folder was created
	Account string     `json:",omitempty"` // account of the job
	Job     remote.Job // job with all limits set
	User    int        // user ID of the task; 0 means the agent's user
	Root    string     // the agent's folder
	Network bool
	Kind    string // name of the kernel interface
	Kernel  linux.Config
	Spool   bool    `json:",omitempty"` // a backend starts the supervisor; times are in SpoolTime
	CPUs    float64 `json:",omitempty"` // limit in processors, used by a backend
	Port    int32   `json:",omitempty"` // first port of the contract, if it has several nodes
	Lease   float64 `json:",omitempty"` // length of the lease in seconds, used by a backend

	Memory    int64            `json:",omitempty"` // bytes that the task reserves
	Disk      int64            `json:",omitempty"` // bytes of disk that the task reserves
	Bandwidth int64            `json:",omitempty"` // bytes per second that the task reserves
	Units     map[string]int32 `json:",omitempty"` // number of units of each countable resource that the task reserves
	Numbers   map[string][]int `json:",omitempty"` // numbers of these units, unless a backend assigns them
	Files     []string         `json:",omitempty"` // device files of these units
	Hidden    []string         `json:",omitempty"` // device files that the task must not see
}

// Orders are the instructions for a supervisor.
type orders struct {
	Until  float64 // time of the deadline; 0 means none
	Warn   float64 // seconds before Until at which the task is notified
	Asked  bool    `json:",omitempty"` // whether the task's owner set Warn
	Paused bool
	KillAt float64 // time at which the task is killed; the task is notified immediately; 0 means never
	Reason string  `json:",omitempty"` // reason why the task is killed at KillAt
}

// shouldPause reports whether the task must be paused because its orders require it, its lease
// ended at until, or its kill time has passed.
func (o *orders) shouldPause(now, until float64) bool {
	return o.Paused || now >= until || o.KillAt > 0 && now >= o.KillAt
}

// An exit is the content of exit.json.
type exit struct {
	Why         hosts.End
	Status      int    // exit status of the program
	Signal      string // signal that ended the program, if any
	Fault       string // fault that was not caused by the program, if any
	OutOfMemory bool
	Used        float64  // processor-seconds
	Waited      float64  `json:",omitempty"` // seconds for which the task was ready but waited for a processor, if known
	Span        float64  // seconds from the start to the end
	Stored      int64    `json:",omitempty"` // bytes of the task's files and output
	Lacks       []string // isolation features that the machine does not have
}

// put writes v to path as JSON atomically: readers find either the old or the new content.
func put(path string, v any, sync bool) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return replace(path, text, 0o600, sync)
}

// replace writes a file atomically: readers find either the old or the new content.
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

// get reads path into v and reports whether the file exists.
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

// A version identifies the last version seen of a file that is replaced as a whole at each
// change.
type version struct{ info os.FileInfo }

// changed reports whether the file was replaced since the previous call.
func (v *version) changed(path string) bool {
	before := v.info
	v.info, _ = os.Stat(path) // nil if the file does not exist
	if before == nil || v.info == nil {
		return before != v.info
	}
	return !os.SameFile(before, v.info) || !before.ModTime().Equal(v.info.ModTime())
}

// lockFolder locks a task's folder; the supervisor inherits the lock. It returns nil without an
// error if another process holds the lock.
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

// boottime returns the seconds since the machine booted.
func boottime() float64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic("agent: CLOCK_BOOTTIME: " + err.Error())
	}
	return float64(t.Sec) + float64(t.Nsec)/1e9
}

// bootID returns an identifier of the current boot of the machine.
func bootID() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text)), err
}
