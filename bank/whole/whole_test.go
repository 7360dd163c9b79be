package whole_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"bourse/bank/whole"
)

// TestWrite checks that a file is replaced, and that one that cannot be written leaves
// what was there and nothing beside it.
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
	if err := whole.Write(dir, []byte("x")); err == nil { // a folder is in its place
		t.Error("a folder was replaced")
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("left: %v, %v", names, err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(dir), ".part-*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestPrivate checks that a file which was others', too, is its owner's alone.
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

// TestSecret checks that a secret is made once, whoever asks at once, and refused where
// others may use it.
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
