// Package overlaytest has tests compile the code with some of its files changed: with a fault
// that is planted, say. The code itself stays as it is.
package overlaytest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// Write returns a file for -overlay of the go command, by which it reads these texts in place
// of the files, or beside them, whose absolute paths they have.
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
