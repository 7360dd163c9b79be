//go:build unix

package results

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestCheck replaces each file of the results. The check must report the file and the value
// found, must not read more than necessary, and must not report added files.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		found string
		spoil func(path string) error
	}{
		{"no file", func(string) error { return nil }},
		{"a directory", func(path string) error { return os.Mkdir(path, 0o755) }},
		{"a device", func(path string) error { return os.Symlink("/dev/zero", path) }},
		{"a named pipe", func(path string) error { return syscall.Mkfifo(path, 0o600) }},
		{"1099511627776 bytes", func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o644), os.Truncate(path, 1<<40))
		}},
	} {
		t.Run(c.found, func(t *testing.T) {
			t.Parallel()
			d, err := Open(write(t))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(d.file("notes.txt"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			if got, err := d.Check(context.Background()); got != nil || err != nil {
				t.Errorf("as written: %v, %v", got, err)
			}
			for name := range d.Manifest.Outputs {
				if err := errors.Join(os.Rename(d.file(name), d.file("kept")), c.spoil(d.file(name))); err != nil {
					t.Fatal(err)
				}
				got, err := d.Check(context.Background())
				if err != nil || len(got) != 1 || got[0].File != name || got[0].Found != c.found {
					t.Errorf("%s: %v, %v", name, got, err)
				}
				os.Remove(d.file(name))
				if err := os.Rename(d.file("kept"), d.file(name)); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			if _, err := d.Check(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("interrupted: %v", err)
			}
		})
	}
}

// TestNoFiles replaces each file that is read completely by a device, a pipe and a file
// that is too large. Every reader must refuse it in one sentence.
func TestNoFiles(t *testing.T) {
	t.Parallel()
	readers := map[string]func(dir string) error{
		manifestName: func(dir string) error { _, err := Open(dir); return err },
		"x.swf":      func(dir string) error { _, err := HashFile(filepath.Join(dir, "x.swf")); return err },
	}
	for name, read := range map[string]func(*Dir) error{
		"metrics.csv": func(d *Dir) error { _, err := d.Metrics(); return err },
		"summary.csv": func(d *Dir) error { _, err := d.Summary(); return err },
		"curve.csv":   func(d *Dir) error { _, err := d.Curve(); return err },
		"jobs.parquet": func(d *Dir) error {
			for _, err := range d.Jobs(nil, nil) {
				return err
			}
			return nil
		},
		"prices.parquet": func(d *Dir) error {
			for _, err := range d.Prices(nil) {
				return err
			}
			return nil
		},
	} {
		readers[name] = func(dir string) error {
			d, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			return read(d)
		}
	}
	for name, read := range readers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := write(t)
			path := filepath.Join(dir, name)
			for want, make := range map[string]func() error{
				"a device, want":     func() error { return os.Symlink("/dev/zero", path) },
				"a named pipe, want": func() error { return syscall.Mkfifo(path, 0o600) },
				"1099511627776 bytes, want": func() error {
					return errors.Join(os.WriteFile(path, nil, 0o644), os.Truncate(path, 1<<40))
				},
			} {
				if !strings.HasPrefix(want, "a ") && (name == "x.swf" || strings.HasSuffix(name, ".parquet")) {
					continue // no reader loads this file into memory
				}
				os.Remove(path)
				if err := make(); err != nil {
					t.Fatal(err)
				}
				if err := read(dir); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
					t.Errorf("%v, want %q", err, want)
				}
			}
		})
	}
}

// TestReadsUnchanged changes a byte of each table, or removes the file from the manifest.
// Every reader must name the file and yield no row.
func TestReadsUnchanged(t *testing.T) {
	t.Parallel()
	first := func(d *Dir, table string) (err error) {
		rows := 0
		switch table {
		case "jobs":
			for _, err = range d.Jobs(nil, nil) {
				rows++
			}
		case "prices":
			for _, err = range d.Prices(nil) {
				rows++
			}
		case "metrics":
			_, err = d.Metrics()
		case "summary":
			_, err = d.Summary()
		case "curve":
			_, err = d.Curve()
		}
		if err != nil && rows > 1 {
			t.Errorf("%s: %d rows before %v, want none", table, rows, err)
		}
		return err
	}
	for file, table := range map[string]string{
		"jobs.parquet": "jobs", "prices.parquet": "prices", "metrics.csv": "metrics", "summary.csv": "summary", "curve.csv": "curve",
	} {
		d, err := Open(write(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := first(d, table); err != nil {
			t.Errorf("%s, as written: %v", file, err)
		}
		data, err := os.ReadFile(d.file(file))
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)/2] ^= 1
		if err := os.WriteFile(d.file(file), data, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := first(d, table); err == nil || !strings.Contains(err.Error(), file+": found sha256 ") || !strings.Contains(err.Error(), ", want sha256 ") {
			t.Errorf("%s, changed: error %v, want one that names it, and both hashes", file, err)
		}
		if delete(d.Manifest.Outputs, file); table != "jobs" {
			if err := first(d, table); err == nil {
				t.Errorf("%s, not in the manifest: read, want an error", file)
			}
		}
	}
}

// unchecked returns the folder of a file that no manifest describes.
func unchecked(path string) *Dir { return (&Dir{Path: filepath.Dir(path)}).Unchecked() }
