package whole_test

import (
	"os"
	"path/filepath"
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
