package whole_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"bourse/bank/whole"
)

// TestWrite checks that a file is replaced, and that a failed write leaves the old file and no
// temporary file.
func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	for _, text := range []string{"one", "", "three"} {
		if err := whole.Write(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != text {
			t.Errorf("found %q, %v; want %q", got, err, text)
		}
	}
	if err := whole.Write(dir, []byte("x")); err == nil { // a folder has the name of the file
		t.Error("a folder was replaced")
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("left: %v, %v", names, err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(dir), ".part-*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestPrivate checks that only the owner can read a file, even if other users could read the
// old file.
func TestPrivate(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "file")
	for _, write := range []func(string, []byte) error{whole.Write, whole.Private} {
		if err := write(name, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v, want mode 600", info.Mode(), err)
	}
}

// TestSecret checks that concurrent callers create only one secret, and that Secret refuses a
// file to which other users have access.
func TestSecret(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "secret")
	if _, err := whole.Secret(name, func() ([]byte, error) { return nil, os.ErrInvalid }); err == nil {
		t.Error("a secret that cannot be made is there")
	}
	var made sync.WaitGroup
	got := make([]string, 16)
	for i := range got {
		made.Go(func() {
			b, err := whole.Secret(name, func() ([]byte, error) { return fmt.Appendf(nil, "secret %d", i), nil })
			if got[i] = string(b); err != nil {
				t.Error(err)
			}
		})
	}
	made.Wait()
	for _, s := range got {
		if s != got[0] || s == "" {
			t.Fatalf("%q, want one secret", got)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
	if err := os.Chmod(name, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := whole.Secret(name, nil); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("mode 640: %v", err)
	}
}

// TestReadRefuses checks that only regular files of limited size are read. A pipe without a
// writer, an endless device and a folder are refused by kind, as is a symbolic link to one of
// them.
func TestReadRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	try := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	try(syscall.Mkfifo(at("pipe"), 0o600))
	try(os.Symlink("pipe", at("link")))
	try(os.Symlink("/dev/zero", at("zero")))
	try(os.WriteFile(at("four"), []byte("four"), 0o600))
	for name, want := range map[string]string{
		"pipe": "is a named pipe, want a regular file", "link": "is a named pipe, want a regular file", "zero": "is a device, want a regular file",
		".": "is a directory, want a regular file", "none": "no such file", "four": "has 4 bytes, want at most 3",
	} {
		if b, err := whole.Read(at(name), 3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v; want %q", name, b, err, want)
		}
	}
	if b, err := whole.Read(at("four"), 4); string(b) != "four" || err != nil {
		t.Errorf("found %q, %v; want four", b, err)
	}
}

// TestReadAllEnds checks that reading an endless stream stops at the limit.
func TestReadAllEnds(t *testing.T) {
	t.Parallel()
	read := 0
	b, err := whole.ReadAll(readerFunc(func(b []byte) (int, error) { read += len(b); return len(b), nil }), 1<<10)
	if err == nil || b != nil || read > 1<<11 {
		t.Errorf("found %d bytes, %v, after %d were read", len(b), err, read)
	}
	if b, err := whole.ReadAll(strings.NewReader("four"), 4); string(b) != "four" || err != nil {
		t.Errorf("found %q, %v; want four", b, err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }
