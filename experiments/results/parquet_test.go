package results

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDamagedParquet checks that a file with a few wrong bytes is read or refused, by
// an error that names it, and never ends the program.
func TestDamagedParquet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tab, err := newTable[Price](dir, "prices", ".parquet")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(tab.append([]Price{{"a", "cac", 0, 0, 1.5}, {"a", "cac", 0, 60, 2}}), tab.close()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "prices.parquet")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	damaged := 0
	for range 300 {
		b := append([]byte{}, good...)
		for range 1 + random.IntN(3) {
			b[random.IntN(len(b))] = byte(random.IntN(256))
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		for _, err := range readParquet[Price](path) {
			if err == nil {
				continue
			}
			if !strings.Contains(err.Error(), "prices.parquet") {
				t.Errorf("error %q does not name the file", err)
			}
			if strings.Contains(err.Error(), "damaged") {
				damaged++
			}
		}
	}
	if damaged == 0 {
		t.Error("nothing made the library panic: the test shows nothing")
	}
}
