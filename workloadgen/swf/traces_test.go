package swf

import (
	"os"
	"path/filepath"
	"testing"
)

// traceFile returns the path of a recorded trace beside the project, and skips
// the test where there is none.
func traceFile(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Skip("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	path := filepath.Join(dir, "..", "shared", "traces", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no recorded trace %s", path)
	}
	return path
}
