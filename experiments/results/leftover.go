package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A run writes to .NAME.partial-N, which it locks until it ends, and finally renames it to
// NAME. Meanwhile, an older NAME is called .NAME.partial-N.old.
const (
	partial = ".partial-"
	older   = ".old"
)

// ErrBusy reports that another run is writing the same results.
var ErrBusy = errors.New("another run is writing it")

// Tidy removes what killed runs of the results directory dir left next to it, and returns a
// sentence about each. It does not touch the files of a live run. Older results that a run
// had moved aside are moved back. If newer results have their name by now, files that
// somebody added to the older ones are moved there.
func Tidy(dir string) (said []string, err error) {
	if dir, err = place(dir); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(filepath.Dir(dir))
	if err != nil {
		return nil, nil // there is nothing, or Create will say what
	}
	var runs []string
	for _, e := range entries {
		run := strings.TrimSuffix(e.Name(), older)
		n, ok := strings.CutPrefix(run, "."+filepath.Base(dir)+partial)
		if ok && n != "" && strings.Trim(n, "0123456789") == "" && e.IsDir() {
			runs = append(runs, filepath.Join(filepath.Dir(dir), run))
		}
	}
	for _, temp := range slices.Compact(runs) {
		said = append(said, tidy(dir, temp)...)
	}
	return said, nil
}

// tidy removes the remains of the run that wrote temp, unless it is still alive, and
// describes its actions.
func tidy(dir, temp string) (said []string) {
	lock, err := lockDir(temp)
	if errors.Is(err, fs.ErrNotExist) { // it has been renamed
		lock, err = lockDir(dir)
	}
	switch {
	case errors.Is(err, ErrBusy):
		return nil
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return []string{fmt.Sprintf("%s remains, because it is unknown whether its run was killed: %v", temp, err)}
	default:
		defer lock.Close()
	}
	back, err := restore(temp+older, dir)
	if err != nil {
		return []string{fmt.Sprintf("a killed run left older results in %s: %v", temp+older, err)}
	}
	if back {
		said = append(said, fmt.Sprintf("restored %s, which a killed run had moved to %s", dir, temp+older))
	}
	if _, err := os.Lstat(temp); err == nil {
		if err := os.RemoveAll(temp); err != nil {
			return append(said, fmt.Sprintf("a killed run left %s: %v", temp, err))
		}
		said = append(said, fmt.Sprintf("removed %s, which a killed run left", temp))
	}
	return said
}

// restore moves the results in old back to dir if that name is free. Otherwise it completes
// their replacement by the newer results.
func restore(old, dir string) (back bool, err error) {
	if _, err := os.Lstat(old); err != nil {
		return false, nil
	}
	if empty(old) {
		return false, os.Remove(old)
	}
	if err := replaceable(dir); err != nil {
		return false, err
	}
	if empty(dir) {
		if err := os.Remove(dir); err != nil {
			return false, err
		}
	}
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return true, os.Rename(old, dir)
	}
	return false, discard(old, dir)
}

// discard removes the results in old after moving files that somebody added to dir.
func discard(old, dir string) error {
	entries, err := os.ReadDir(old)
	if err == nil {
		err = keep(old, dir)
	}
	if err != nil {
		return err
	}
	for _, e := range entries { // the manifest last, because it identifies added files
		if e.Name() != manifestName {
			err = errors.Join(err, os.RemoveAll(filepath.Join(old, e.Name())))
		}
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(old)
}

func empty(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) == 0
}
