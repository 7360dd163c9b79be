package results

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// makeResults makes results in dir that include files added by a user.
func makeResults(t *testing.T, dir string, seed uint64, added ...string) {
	t.Helper()
	w, err := Create(dir, Both, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(Manifest{Seed: seed}); err != nil {
		t.Fatal(err)
	}
	for _, name := range added {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// names returns the names of the files in dir, in order.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// killed simulates a killed run of the results out and returns what it wrote.
func killed(t *testing.T, out string) (temp string) {
	t.Helper()
	w, err := Create(out, Both, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.unlock() // as the end of the process does
	t.Cleanup(func() {
		w.root.Close()
		for _, f := range w.files {
			f.abandon()
		}
	})
	return w.temp
}

// TestEmpty checks that results can be written to an empty directory, by its own name or
// through a link, and that no other file remains next to it.
func TestEmpty(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	if err := os.Mkdir(filepath.Join(base, "e"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("e", filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	for seed, name := range []string{"e", "link", "link"} {
		makeResults(t, filepath.Join(base, name), uint64(seed))
		if d, err := Open(filepath.Join(base, "e")); err != nil || d.Manifest.Seed != uint64(seed) {
			t.Errorf("results of %s: %v, %v", name, d, err)
		}
		if got := names(t, base); !slices.Equal(got, []string{"e", "link"}) {
			t.Errorf("after %s: %q", name, got)
		}
	}
}

// TestTidy checks the treatment of the files of a run that was killed at any point. Older
// results must be restored, or replaced by newer results that contain the files that users had
// added.
func TestTidy(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no locks")
	}
	rename := func(from, to string) error { return os.Rename(from, to) }
	for _, c := range []struct {
		name string
		fate func(out, temp string) error // effect on the files after the run was killed
		want []string                     // names of the files that then exist
		said string
		seed uint64 // seed of the results that exist afterwards
	}{
		{"while it ran", func(out, temp string) error { return nil }, []string{"out"}, "removed ", 1},
		{"its own not there yet", func(out, temp string) error { return rename(out, temp+older) }, []string{"out"}, "out, which a killed run had moved to ", 1},
		{"its own there", func(out, temp string) error {
			return errors.Join(rename(out, temp+older), os.RemoveAll(temp), replay(out))
		}, []string{"out"}, "", 2},
		{"some of the older removed", func(out, temp string) error {
			return errors.Join(rename(out, temp+older), os.RemoveAll(temp), replay(out), rename(filepath.Join(temp+older, "notes.txt"), filepath.Join(out, "notes.txt")),
				os.Remove(filepath.Join(temp+older, "jobs.csv")))
		}, []string{"out"}, "", 2},
		{"an empty directory where they were", func(out, temp string) error {
			return errors.Join(rename(out, temp+older), os.Mkdir(out, 0o755))
		}, []string{"out"}, "out, which a killed run had moved to ", 1},
		{"in an empty directory", func(out, temp string) error { return os.Mkdir(temp+older, 0o755) }, []string{"out"}, "removed ", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			out := filepath.Join(base, "out")
			makeResults(t, out, 1, "notes.txt")
			if err := c.fate(out, killed(t, out)); err != nil {
				t.Fatal(err)
			}
			said, err := Tidy(out)
			if err != nil {
				t.Fatal(err)
			}
			if got := names(t, base); !slices.Equal(got, c.want) {
				t.Errorf("left: %q, want %q", got, c.want)
			}
			if got := strings.Join(said, "\n"); !strings.Contains(got, c.said) || (c.said == "") != (got == "") {
				t.Errorf("said %q, want %q in it", got, c.said)
			}
			d, err := Open(out)
			if err != nil || d.Manifest.Seed != c.seed {
				t.Fatalf("results: %v, want those of seed %d", err, c.seed)
			}
			if changes, err := d.Check(t.Context()); err != nil || len(changes) > 0 {
				t.Error(changes, err)
			}
			if b, err := os.ReadFile(filepath.Join(out, "notes.txt")); string(b) != "notes.txt" {
				t.Errorf("what somebody added: %q, %v", b, err)
			}
			if said, err := Tidy(out); said != nil || err != nil {
				t.Errorf("again: %q, %v", said, err)
			}
		})
	}
}

// replay writes newer results to out.
func replay(out string) error {
	w, err := Create(out, Both, nil)
	if err != nil {
		return err
	}
	return w.Close(Manifest{Seed: 2})
}

// TestSpared checks which files are not removed: files that a run is still writing, files with
// another name, results that are not known to be old, and plain files.
func TestSpared(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	out := filepath.Join(base, "out")
	w, err := Create(out, Both, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	lost := filepath.Join(base, ".out.partial-7.old")
	for _, dir := range []string{".out.partial-", ".out.partial-7x", ".out2.partial-7", ".out.partial-1.partial-7"} {
		if err := os.Mkdir(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(
		os.WriteFile(filepath.Join(base, ".out.partial-8"), nil, 0o644),
		os.Mkdir(lost, 0o755), os.Mkdir(out, 0o755), os.WriteFile(filepath.Join(out, "thesis.tex"), nil, 0o644),
		os.WriteFile(filepath.Join(lost, "thesis.tex"), nil, 0o644),
	); err != nil {
		t.Fatal(err)
	}
	before := names(t, base)
	said, err := Tidy(out)
	if err != nil || len(said) != 1 || !strings.Contains(said[0], "left older results in "+lost) {
		t.Errorf("said %q, %v, want that older results are in %s", said, err, lost)
	}
	if got := names(t, base); !slices.Equal(got, before) {
		t.Errorf("left: %q, want %q", got, before)
	}
	if err := errors.Join(os.RemoveAll(out), os.RemoveAll(lost), w.Close(Manifest{})); err != nil {
		t.Errorf("the run that went on: %v", err)
	}
	if said, err := Tidy(out); said != nil || err != nil {
		t.Errorf("after it: %q, %v", said, err)
	}
}

// TestRivals checks that, of two runs with the same name, the run that ends last gets the name.
func TestRivals(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	out := filepath.Join(base, "out")
	makeResults(t, out, 1, "notes.txt")
	first, err := Create(out, Both, nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Create(out, Both, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(second.Close(Manifest{Seed: 2}), first.Close(Manifest{Seed: 3})); err != nil {
		t.Fatal(err)
	}
	if d, err := Open(out); err != nil || d.Manifest.Seed != 3 {
		t.Errorf("results: %v, want those of seed 3", err)
	}
	if _, err := os.Stat(filepath.Join(out, "notes.txt")); err != nil || len(names(t, base)) != 1 {
		t.Errorf("%v; left: %q", err, names(t, base))
	}
}

// TestMounted checks that a directory with a mounted file system is refused before the run.
func TestMounted(t *testing.T) {
	t.Parallel()
	if mounted(t.TempDir()) {
		t.Error("a new directory is called mounted")
	}
	if runtime.GOOS == "linux" && !mounted("/proc") {
		t.Error("/proc is not called mounted")
	}
}
