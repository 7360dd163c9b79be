package results

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRefused checks that values that readers would interpret differently are refused, that
// the error names table, row and column, and that the call writes no row.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*Job)
		want   string
	}{
		{"NaN", func(j *Job) { j.Arrival = math.NaN() }, "jobs, row 2: column arrival: found NaN"},
		{"infinity", func(j *Job) { j.WorkDone = new(math.Inf(1)) }, "column work_done: found +Inf"},
		{"control", func(j *Job) { j.Reason = "a\x1b[2J" }, "column reason \"a\\x1b[2J\" holds control character U+001B"},
		{"line", func(j *Job) { j.User = "a\nb" }, "U+000A"},
		{"bytes", func(j *Job) { j.Job = "\xff" }, "not UTF-8"},
		{"money", func(j *Job) { j.Paid = new(Money(1e18)) }, "column paid: found $1000000000000.000000, want less than 10^12"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "out")
			w, err := Create(dir, Both, nil)
			if err != nil {
				t.Fatal(err)
			}
			rows := []Job{jobs[0], jobs[1]}
			c.change(&rows[1])
			out := NewEncoder(Both, nil)
			if err := out.Jobs(rows); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			block, err := out.Block()
			if err := errors.Join(err, w.Append(block), w.Close(Manifest{})); err != nil {
				t.Fatal(err)
			}
			d, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			if got := collect(t, d.Jobs(nil, nil)); len(got) != 0 {
				t.Errorf("%d rows written, want 0", len(got))
			}
		})
	}
}

// TestPlace checks that a results directory replaces only older results, and that an abandoned
// run leaves no files.
func TestPlace(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	full := filepath.Join(base, "full")
	if err := errors.Join(os.Mkdir(full, 0o755), os.WriteFile(filepath.Join(full, "thesis.tex"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(full, Both, nil); !errors.Is(err, ErrNotResults) {
		t.Errorf("over a directory: %v, want ErrNotResults", err)
	}
	if _, err := Create(filepath.Join(full, "thesis.tex"), Both, nil); err == nil {
		t.Error("over a file: no error")
	}
	dir := filepath.Join(base, "deep", "out")
	for i := range 2 {
		w, err := Create(dir, Both, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.File("figures/old.svg", nil); i == 0 && err != nil {
			t.Fatal(err)
		}
		if err := w.Close(Manifest{Seed: uint64(i)}); err != nil {
			t.Fatal(err)
		}
		w.Abort()
		if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("mine"), 0o644); i == 0 && err != nil {
			t.Fatal(err)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "notes.txt")); err != nil || string(b) != "mine" {
		t.Errorf("what was added to older results: %q, %v", b, err)
	}
	w, err := Create(dir, Both, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Abort()
	if err := w.Close(Manifest{}); err == nil {
		t.Error("close after abort: no error")
	}
	if d, err := Open(dir); err != nil || d.Manifest.Seed != 1 {
		t.Errorf("open: %v, want the second run's", err)
	}
	if entries, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(entries) != 1 {
		t.Errorf("beside the results: %v, %v", entries, err)
	}
	if w, err = Create(dir, Both, nil); err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	for _, name := range []string{"", "..", "../x", "/x", "a/../../x", "manifest.json", "a\nb", "jobs.csv"} {
		if err := w.File(name, nil); err == nil {
			t.Errorf("file %q: no error", name)
		}
	}
}
