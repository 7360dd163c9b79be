// Package overlaytest lets tests compile the code with some files changed, for example with a
// deliberate mistake. The files themselves are not changed.
package overlaytest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// Write writes a file for the -overlay flag of the go command and returns its name. The
// argument texts contains the text of each replaced or additional file, by absolute path.
func Write(t testing.TB, texts map[string]string) (overlay string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, text []byte) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	replace := make(map[string]string)
	for path, text := range texts {
		replace[path] = write(strconv.Itoa(len(replace))+".go", []byte(text))
	}
	packed, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	return write("overlay.json", packed)
}
