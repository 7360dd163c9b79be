package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"bourse/bank/whole"
)

// The limits of a file or folder that is sent with a job.
const (
	mostFile = 64 << 20 // maximum size in bytes
	mostTree = 10_000   // maximum number of files, links and folders
)

// tree returns a folder as a canonical tar stream. It contains sorted names relative to the
// folder and executable bits, but no times or owners. The same content therefore has the same
// hash. It returns an error that names the entry if a link leads outside the folder or if the
// folder is too large.
func tree(dir string) ([]byte, error) {
	var out bytes.Buffer
	w, n := tar.NewWriter(&out), 0
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || file == dir {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		if n++; n > mostTree {
			return fmt.Errorf("found more than %d files and folders, at %s", mostTree, name)
		}
		h, data := &tar.Header{Name: filepath.ToSlash(name), Mode: 0o755, Format: tar.FormatPAX}, []byte(nil)
		switch d.Type() {
		case fs.ModeDir:
			h.Name, h.Typeflag = h.Name+"/", tar.TypeDir
		case fs.ModeSymlink:
			h.Typeflag = tar.TypeSymlink
			if h.Linkname, err = os.Readlink(file); err != nil {
				return err
			}
			if to := path.Join(path.Dir(h.Name), h.Linkname); path.IsAbs(h.Linkname) || !filepath.IsLocal(to) {
				return fmt.Errorf("%s leads outside, to %s", name, h.Linkname)
			}
		case 0:
			if data, err = whole.Read(file, mostFile); err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			h.Typeflag, h.Size = tar.TypeReg, int64(len(data))
			if info.Mode()&0o111 == 0 {
				h.Mode = 0o644
			}
		default:
			return fmt.Errorf("%s is neither a file, a folder nor a link", name)
		}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
		if out.Len() > mostFile {
			return fmt.Errorf("found more than %d bytes, at %s", mostFile, name)
		}
		return nil
	})
	return out.Bytes(), errors.Join(err, w.Close())
}

// baseName returns the name of a file or folder in the task's folder. The name of a folder
// ends in /.
func baseName(file string) string {
	info, err := os.Stat(file)
	if err != nil || !info.IsDir() {
		return filepath.Base(file)
	}
	if all, err := filepath.Abs(file); err == nil {
		file = all
	}
	return strings.TrimSuffix(filepath.Base(file), "/") + "/"
}
