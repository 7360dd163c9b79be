package swf

import (
	"os"
	"testing"
)

// traceFile returns the path of a recorded trace next to the project, and skips the test if
// there is none.
func traceFile(t testing.TB, name string) string {
	t.Helper()
	path := "../../../shared/traces/" + name
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no recorded trace %s", path)
	}
	return path
}
