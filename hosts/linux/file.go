//go:build linux

package linux

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A file is an open file of a group. It remembers the text written last.
type file struct {
	*os.File
	text string
}

func openFile(path string, flag int) (file, error) {
	f, err := os.OpenFile(path, flag, 0)
	return file{File: f}, err
}

// set writes text unless it was also the text written last.
func (f *file) set(text string) error {
	if f.text == text {
		return nil
	}
	if _, err := f.WriteAt([]byte(text), 0); err != nil {
		f.text = ""
		return err
	}
	f.text = text
	return nil
}

// get reads the file into buf.
func (f *file) get(buf []byte) ([]byte, error) {
	n, err := unix.Pread(int(f.Fd()), buf, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: f.Name(), Err: err}
	}
	return bytes.TrimSpace(buf[:n]), nil
}

// field returns the number after key in text that consists of lines "key number".
func field(text []byte, key string) (int64, error) {
	for line := range bytes.Lines(text) {
		if k, v, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" ")); string(k) == key {
			return strconv.ParseInt(string(v), 10, 64)
		}
	}
	return 0, fmt.Errorf("no %s", key)
}

// write writes text to a file of a group. It does not keep the file open.
func write(dir, name, text string) error {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// pids returns the process IDs of a group.
func pids(dir string) (found []int, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return nil, err
	}
	for f := range strings.FieldsSeq(string(text)) {
		pid, err := strconv.Atoi(f)
		if err != nil {
			return nil, err
		}
		found = append(found, pid)
	}
	return found, nil
}

// killAll kills the processes found.
func killAll(found []int, err error) error {
	for _, pid := range found {
		if e := unix.Kill(pid, unix.SIGKILL); e != nil && e != unix.ESRCH {
			err = errors.Join(err, e)
		}
	}
	return err
}

// groups returns the names of the groups in dir.
func groups(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, err
}

// removeGroup removes the group in dir, even if its last processes are still ending.
func removeGroup(dir string) error {
	return within(patience, func() (bool, error) {
		err := unix.Rmdir(dir)
		if err == unix.EBUSY {
			return false, fmt.Errorf("%s still has processes", dir)
		}
		if err == unix.ENOENT {
			err = nil
		}
		return true, err
	})
}

// patience is the time that the kernel has to freeze or end processes.
const patience = time.Second

// within calls done every few milliseconds until it returns true or the time is over. It then
// returns the last error.
func within(d time.Duration, done func() (bool, error)) error {
	for end := time.Now().Add(d); ; time.Sleep(2 * time.Millisecond) {
		if ok, err := done(); ok || time.Now().After(end) {
			return err
		}
	}
}

// CheckName returns an error unless name is a valid name for the files of this package.
func CheckName(name string) error {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool {
		return r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) || strings.Trim(name, ".") == "" {
		return fmt.Errorf("%q is no name of a task: want letters, digits and dots", name)
	}
	return nil
}
