// Package whole writes files whole or not at all.
package whole

import (
	"errors"
	"os"
	"path/filepath"
)

// Write writes a file, in place of what is there, so that whoever opens it finds what was
// there or all of data, also after a crash. That the name is durable, too, is for who
// needs it to see to: by syncing the folder.
func Write(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".part-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
