package store

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestMarker checks that no power cut leaves a marker without the file that it names, because
// the directory is synced before the marker is created.
func TestMarker(t *testing.T) {
	t.Parallel()
	mem := vfs.NewCrashableMem()
	fs := guardedFS{mem, func(err error) { t.Error(err) }}
	for _, name := range []string{"MANIFEST-000001", "marker.manifest.000001.MANIFEST-000001"} {
		f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	cut := mem.CrashClone(vfs.CrashCloneCfg{})
	if _, err := cut.Stat("MANIFEST-000001"); err != nil {
		t.Errorf("a marker was made of a file that a power cut takes: %v", err)
	}
}
