//go:build unix

package store

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// modes returns the modes of a directory's files, by name, and the mode of the directory as
// ".".
func modes(t *testing.T, dir string) map[string]fs.FileMode {
	t.Helper()
	all := make(map[string]fs.FileMode)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		all[name] = info.Mode().Perm()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestPrivate checks that only the owner has access to a bank's files at any time. If the owner
// grants others access, reopening does not revoke it. The files of a run's ledger, which may be
// shown to others, have the usual modes.
func TestPrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "books")
	opts := Options{BalancesEvery: 2, memTable: 32 << 10}
	closeJournal(t, create(t, dir, opts))
	work := func(from int) {
		t.Helper()
		s, err := OpenSequencer(dir, opts)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 400 {
			if _, err := s.Do(context.Background(), transfer(fmt.Sprint(from+n), "mint", fmt.Sprint("user:", n), 1)); err != nil {
				t.Fatal(err)
			}
		}
		closeSequencer(t, s)
	}
	for n := range 3 {
		work(1000 * n)
		tables := 0
		for name, mode := range modes(t, dir) {
			if filepath.Ext(name) == sstable {
				tables++
			}
			want := fs.FileMode(0o600)
			if name == "." {
				want = 0o700
			}
			if mode != want {
				t.Errorf("opened %d times: %s has mode %o, want %o", n+1, name, mode, want)
			}
		}
		if tables == 0 {
			t.Error("there are no tables")
		}
	}
	if mode := modes(t, filepath.Dir(dir))["."]; mode != 0o700 {
		t.Errorf("the folder that was made for it has mode %o, want 700", mode)
	}
	if err := os.Chmod(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	for name := range modes(t, dir) {
		if name != "." {
			if err := os.Chmod(filepath.Join(dir, name), 0o640); err != nil {
				t.Fatal(err)
			}
		}
	}
	work(5000)
	for name, mode := range modes(t, dir) {
		if mode != 0o640 && (name != "." || mode != 0o750) {
			t.Errorf("one that its group may read: %s has mode %o", name, mode)
		}
	}
	shown, like := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "file")
	closeJournal(t, create(t, shown, Options{Reproducible: true}))
	if err := os.WriteFile(like, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	want := modes(t, filepath.Dir(like))["file"]
	for name, mode := range modes(t, shown) {
		if name != "." && mode != want {
			t.Errorf("a run's %s has mode %o, want %o", name, mode, want)
		}
	}
}
