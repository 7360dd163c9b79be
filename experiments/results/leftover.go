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

// A run writes to the directory .NAME.partial-N. It locks this directory until the run ends
// and finally renames it to NAME. During the renaming, an older NAME is called
// .NAME.partial-N.old.
const (
	partial = ".partial-"
	older   = ".old"
)

// ErrBusy reports that another run is writing the same results.
var ErrBusy = errors.New("another run is writing these results")

// Tidy removes the files that killed runs have left next to the results directory dir. It
// returns a sentence about each killed run. It does not touch the files of a run in progress.
// If a run had moved older results aside, Tidy moves them back. If newer results with that name
// exist, Tidy moves to them the files that users had added to the older results.
func Tidy(dir string) (said []string, err error) {
	if dir, err = place(dir); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(filepath.Dir(dir))
	if err != nil {
		return nil, nil // nothing needs to be done, or Create will report the error
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

// tidy removes the files of the run that wrote temp, unless that run is still in progress.
// It returns a description of its actions.
func tidy(dir, temp string) (said []string) {
	lock, err := lockDir(temp)
	if errors.Is(err, fs.ErrNotExist) { // the run has renamed the directory
		lock, err = lockDir(dir)
	}
	switch {
	case errors.Is(err, ErrBusy):
		return nil
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return []string{fmt.Sprintf("%s was not removed, because it is unknown whether the run that wrote it was killed: %v", temp, err)}
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
		said = append(said, fmt.Sprintf("removed %s, which a killed run left behind", temp))
	}
	return said
}

// restore moves the results in old back to dir if nothing else has that name. If newer
// results exist, it completes the replacement of the old results.
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

// discard removes the results in old. It first moves the files that users added to dir.
func discard(old, dir string) error {
	entries, err := os.ReadDir(old)
	if err == nil {
		err = keep(old, dir)
	}
	if err != nil {
		return err
	}
	for _, e := range entries { // remove the manifest last, because it shows which files were added
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
