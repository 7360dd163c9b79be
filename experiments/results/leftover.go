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

// A run writes .NAME.partial-N, which it locks until it ends, and gives it the name NAME
// at last; what had that name is .NAME.partial-N.old meanwhile.
const (
	partial = ".partial-"
	older   = ".old"
)

// ErrBusy reports that another run is writing there.
var ErrBusy = errors.New("another run is writing it")

// Tidy removes what runs of the results directory dir that were killed left beside it,
// and returns a sentence about each. What a run still writes stays. Older results that
// a run had moved aside come back, or, if newer ones have their name by now, what
// somebody added to them goes there.
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

// tidy removes what the run left that wrote temp, unless it lives, and tells what it did.
func tidy(dir, temp string) (said []string) {
	lock, err := lockDir(temp)
	if errors.Is(err, fs.ErrNotExist) { // it has its name by now
		lock, err = lockDir(dir)
	}
	switch {
	case errors.Is(err, ErrBusy):
		return nil
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return []string{fmt.Sprintf("%s is left: whether its run was killed cannot be told: %v", temp, err)}
	default:
		defer lock.Close()
	}
	back, err := restore(temp+older, dir)
	if err != nil {
		return []string{fmt.Sprintf("a run that was killed left older results in %s: %v", temp+older, err)}
	}
	if back {
		said = append(said, fmt.Sprintf("%s is back: a run that was killed had moved it to %s", dir, temp+older))
	}
	if _, err := os.Lstat(temp); err == nil {
		if err := os.RemoveAll(temp); err != nil {
			return append(said, fmt.Sprintf("a run that was killed left %s: %v", temp, err))
		}
		said = append(said, fmt.Sprintf("removed %s, which a run that was killed left", temp))
	}
	return said
}

// restore gives the results in old their name dir again, if nothing has it, and
// otherwise does what was left to do when newer results had taken it.
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

// discard removes the results in old, once what somebody added to them is in dir.
func discard(old, dir string) error {
	entries, err := os.ReadDir(old)
	if err == nil {
		err = keep(old, dir)
	}
	if err != nil {
		return err
	}
	for _, e := range entries { // the manifest last: it says what is somebody's own
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
