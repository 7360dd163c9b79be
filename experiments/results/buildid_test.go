package results

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBuildID compares the ID of this test program with the one that the go command reads.
func TestBuildID(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	said, err := exec.Command("go", "tool", "buildid", path).Output()
	if err != nil {
		t.Skipf("go tool buildid: %v", err)
	}
	got, err := buildID(path)
	if want := strings.TrimSpace(string(said)); want == "" {
		if err == nil {
			t.Errorf("found the ID %q, want none", got)
		}
	} else if got != want || err != nil {
		t.Errorf("found the ID %q, %v, want %q", got, err, want)
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no program"), 0o666); err != nil {
		t.Fatal(err)
	}
	if id, err := buildID(text); err == nil {
		t.Errorf("found the ID %q of a text", id)
	}
}
