package pinned

import (
	"io"
	"io/fs"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// TestPinned checks that a pinned directory is read as of one point in time, even if its writer
// then removes tables, reuses logs and creates files. A file that disappears during pinning is
// no error.
func TestPinned(t *testing.T) {
	t.Parallel()
	disk := vfs.NewMem()
	put := func(name, text string) {
		t.Helper()
		f, err := disk.Create("ledger/"+name, vfs.WriteCategoryUnspecified)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := disk.MkdirAll("ledger", 0o777); err != nil {
		t.Fatal(err)
	}
	was := map[string]string{"000004.sst": "table", "000005.log": "log", "MANIFEST-000001": "manifest", "OPTIONS-000003": "options", "marker.manifest.000001.MANIFEST-000001": ""}
	for name, text := range was {
		put(name, text)
	}
	put("000002.sst", "goes")
	gone := false
	p, err := Pin(errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpOpen && op.Path == "ledger/000002.sst" && !gone {
			gone = true
			return disk.Remove(op.Path)
		}
		return nil
	})), "ledger")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	again, err := disk.ReuseForWrite("ledger/000005.log", "ledger/000007.log", vfs.WriteCategoryUnspecified)
	if err == nil {
		_, err = again.Write([]byte("of another use"))
	}
	if err != nil {
		t.Fatal(err)
	}
	for name := range was {
		if err := disk.Remove("ledger/" + name); err != nil && name != "000005.log" {
			t.Fatal(err)
		}
	}
	put("000006.sst", "later")
	for range 2 { // The list must be the same each time it is read.
		names, err := p.List("ledger")
		if err != nil || len(names) != len(was) || slices.Contains(names, "000006.sst") {
			t.Errorf("pinned %v, %v; want %v", names, err, was)
		}
		for name, want := range was {
			f, err := p.Open("ledger/" + name)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(f); string(got) != want || err != nil {
				t.Errorf("%s = %q, %v, want %q", name, got, err, want)
			}
			if info, err := f.Stat(); err != nil || info.Size() != int64(len(want)) {
				t.Errorf("%s: %v, %v", name, info, err)
			}
			if info, err := p.Stat("ledger/" + name); err != nil || info.Size() != int64(len(want)) {
				t.Errorf("%s: %v, %v", name, info, err)
			}
			f.Close()
		}
	}
	opens, never := 0, 1<<30
	for _, from := range []int{5 * pinAttempts, never} { // number of failing attempts: of a busy writer, and of a file that can never be opened
		p, err := Pin(errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind == errorfs.OpOpen {
				if opens++; opens < from {
					return fs.ErrNotExist
				}
			}
			return nil
		})), "ledger")
		if (err == nil) != (from < never) {
			t.Errorf("no file can be opened until the %dth time: %v", from, err)
		}
		if err == nil {
			p.Close()
		}
	}
}
